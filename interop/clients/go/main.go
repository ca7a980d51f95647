// Drives the Go client by one command: driver <serviceUrl>, with the command as JSON on standard
// input; answers in JSON lines. What the commands and answers are is written in interop/drivers/driver.ts.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/apache/pulsar-client-go/pulsar"
	"github.com/apache/pulsar-client-go/pulsar/log"
)

var compressions = map[string]pulsar.CompressionType{
	"":       pulsar.NoCompression,
	"lz4":    pulsar.LZ4,
	"zlib":   pulsar.ZLib,
	"zstd":   pulsar.ZSTD,
	"snappy": pulsar.SNAPPY,
}

var types = map[string]pulsar.SubscriptionType{
	"exclusive": pulsar.Exclusive,
	"shared":    pulsar.Shared,
	"failover":  pulsar.Failover,
}

type command struct {
	Command string
	Topic   string
	Count   int
	Token   string
	List    bool
	CaFile  string
	produceOptions
	consumeOptions
	floodOptions
}

type produceOptions struct {
	Start       int
	SizeBytes   int
	Keys        int
	Batching    bool
	Compression string
	Properties  map[string]string
}

type consumeOptions struct {
	Topics          []string
	Pattern         string
	Subscription    string
	Type            string
	TimeoutMs       int
	Ack             string
	NackEvery       int
	InitialPosition string
	Queue           int
	Abort           bool
}

type fields map[string]any

func main() {
	if err := drive(os.Args[1]); err != nil {
		say("error", fields{"message": err.Error()})
		os.Exit(1)
	}
}

func drive(url string) error {
	var told command
	if err := json.NewDecoder(os.Stdin).Decode(&told); err != nil {
		return err
	}
	options := pulsar.ClientOptions{URL: url, Logger: log.DefaultNopLogger()}
	if told.Token != "" {
		options.Authentication = pulsar.NewAuthenticationToken(told.Token)
	}
	if told.CaFile != "" {
		options.TLSTrustCertsFilePath = told.CaFile
		options.TLSValidateHostname = true
	}
	client, err := pulsar.NewClient(options)
	if err != nil {
		return err
	}
	// Not reached by a consumer that aborts.
	defer client.Close()
	switch told.Command {
	case "produce":
		return produce(client, told)
	case "consume":
		return consume(client, told)
	case "flood":
		return flood(client, told)
	}
	return fmt.Errorf("unknown command %q", told.Command)
}

func say(event string, answer fields) {
	answer["event"] = event
	if err := json.NewEncoder(os.Stdout).Encode(answer); err != nil {
		panic(err)
	}
}

func produce(client pulsar.Client, told command) error {
	producer, err := client.CreateProducer(pulsar.ProducerOptions{
		Topic:                   told.Topic,
		DisableBatching:         !told.Batching,
		BatchingMaxMessages:     500,
		BatchingMaxPublishDelay: 5 * time.Millisecond,
		MaxPendingMessages:      1000,
		CompressionType:         compressions[told.Compression],
	})
	if err != nil {
		return err
	}
	defer producer.Close()
	messages := messagesOf(told)
	say("ready", fields{})
	ids := make([]pulsar.MessageID, told.Count)
	failures := make([]error, told.Count)
	var receipts sync.WaitGroup
	receipts.Add(told.Count)
	started := time.Now()
	for at, message := range messages {
		onReceipt := func(id pulsar.MessageID, _ *pulsar.ProducerMessage, err error) {
			ids[at], failures[at] = id, err
			receipts.Done()
		}
		producer.SendAsync(context.Background(), message, onReceipt)
	}
	receipts.Wait()
	ms := millisecondsSince(started)
	for at, failure := range failures {
		if failure != nil {
			return fmt.Errorf("message %d of %d: %w", at, told.Count, failure)
		}
	}
	listed := []string{}
	if told.List {
		for _, id := range ids {
			listed = append(listed, idOf(id))
		}
	}
	say("done", fields{"sent": told.Count, "messageIds": listed, "ms": ms})
	return nil
}

func messagesOf(told command) []*pulsar.ProducerMessage {
	messages := make([]*pulsar.ProducerMessage, told.Count)
	for at := range messages {
		index := told.Start + at
		message := &pulsar.ProducerMessage{Properties: told.Properties}
		message.Payload = bodyOf(index, max(told.Keys, 1), told.SizeBytes)
		if told.Keys > 0 {
			message.Key = fmt.Sprintf("k%d", index%told.Keys)
		}
		messages[at] = message
	}
	return messages
}

func consume(client pulsar.Client, told command) error {
	consumer, err := subscribe(client, told)
	if err != nil {
		return err
	}
	say("ready", fields{})
	seen := newTally()
	var last pulsar.Message
	started := time.Now()
	patience := time.Duration(told.TimeoutMs) * time.Millisecond
	timeout, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for accepted := 0; accepted < told.Count; {
		message, err := consumer.Receive(timeout)
		if timeout.Err() != nil {
			break
		}
		if err != nil {
			return err
		}
		isNew := seen.add(message)
		if told.List {
			say("message", asSeen(message))
		}
		if isNew && told.NackEvery > 0 && seen.received%told.NackEvery == 0 {
			consumer.Nack(message)
			continue
		}
		accepted++
		last = message
		if told.Ack == "individual" {
			if err := consumer.Ack(message); err != nil {
				return err
			}
		}
	}
	ms := millisecondsSince(started)
	if told.Ack == "cumulative" && last != nil {
		if err := consumer.AckCumulative(last); err != nil {
			return err
		}
	}
	if !told.Abort {
		consumer.Close()
	}
	outcome := seen.outcome()
	outcome["ms"] = ms
	say("done", outcome)
	if told.Abort {
		os.Exit(0)
	}
	return nil
}

func subscribe(client pulsar.Client, told command) (pulsar.Consumer, error) {
	position := pulsar.SubscriptionPositionEarliest
	if told.InitialPosition == "latest" {
		position = pulsar.SubscriptionPositionLatest
	}
	return client.Subscribe(pulsar.ConsumerOptions{
		Topic:                       told.Topic,
		Topics:                      told.Topics,
		TopicsPattern:               told.Pattern,
		SubscriptionName:            told.Subscription,
		Type:                        types[told.Type],
		SubscriptionInitialPosition: position,
		ReceiverQueueSize:           told.Queue,
		NackRedeliveryDelay:         100 * time.Millisecond,
	})
}

func asSeen(message pulsar.Message) fields {
	var key any
	if message.Key() != "" {
		key = message.Key()
	}
	return fields{
		"body":            message.Payload(),
		"key":             key,
		"properties":      message.Properties(),
		"messageId":       idOf(message.ID()),
		"redeliveryCount": message.RedeliveryCount(),
	}
}

func idOf(id pulsar.MessageID) string {
	return fmt.Sprintf("%d:%d:%d:%d", id.LedgerID(), id.EntryID(), id.PartitionIdx(), id.BatchIdx())
}

func millisecondsSince(started time.Time) float64 {
	return float64(time.Since(started).Nanoseconds()) / 1e6
}
