package main

import (
	"context"
	"sync"
	"time"

	"github.com/apache/pulsar-client-go/pulsar"
)

type floodOptions struct {
	Flows      []floodFlow
	DurationMs int
}

type floodFlow struct {
	Topic         string
	RatePerSecond float64
	FromMs        int
	SizeBytes     int
	Batching      bool
	MaxPending    int
}

// One producer, and when its receipts came.
type flow struct {
	told     floodFlow
	producer pulsar.Producer
	sent     int
	mutex    sync.Mutex
	outcome  flowOutcome
	receipts sync.WaitGroup
}

type flowOutcome struct {
	Sent        int       `json:"sent"`
	Failed      int       `json:"failed"`
	Error       string    `json:"error"`
	ReceiptAtMs []float64 `json:"receiptAtMs"`
	LatencyMs   []float64 `json:"latencyMs"`
}

// Several producers of one client, each as fast as it may or at a steady rate; see interop/drivers/flood.ts.
func flood(client pulsar.Client, told command) error {
	flows := make([]*flow, len(told.Flows))
	for at, one := range told.Flows {
		producer, err := client.CreateProducer(pulsar.ProducerOptions{
			Topic:              one.Topic,
			DisableBatching:    !one.Batching,
			MaxPendingMessages: one.MaxPending,
		})
		if err != nil {
			return err
		}
		defer producer.Close()
		flows[at] = &flow{told: one, producer: producer}
	}
	say("ready", fields{})
	started := time.Now()
	until := started.Add(time.Duration(told.DurationMs) * time.Millisecond)
	var running sync.WaitGroup
	for _, one := range flows {
		running.Add(1)
		go func() {
			defer running.Done()
			one.run(started, until)
		}()
	}
	running.Wait()
	outcomes := make([]flowOutcome, len(flows))
	for at, one := range flows {
		one.outcome.Sent = one.sent
		outcomes[at] = one.outcome
	}
	say("done", fields{"flows": outcomes})
	return nil
}

func (one *flow) run(started, until time.Time) {
	begin := started.Add(time.Duration(one.told.FromMs) * time.Millisecond)
	time.Sleep(time.Until(begin))
	for {
		due := time.Now()
		if one.told.RatePerSecond > 0 {
			due = begin.Add(time.Duration(float64(one.sent) / one.told.RatePerSecond * 1e9))
		}
		if !time.Now().Before(until) || !due.Before(until) {
			break
		}
		time.Sleep(time.Until(due))
		message := &pulsar.ProducerMessage{Payload: bodyOf(one.sent, 1, one.told.SizeBytes)}
		one.sent++
		one.receipts.Add(1)
		sentAt := time.Now()
		onReceipt := func(_ pulsar.MessageID, _ *pulsar.ProducerMessage, err error) {
			one.settle(started, sentAt, err)
		}
		one.producer.SendAsync(context.Background(), message, onReceipt)
	}
	one.receipts.Wait()
}

func (one *flow) settle(started, sentAt time.Time, err error) {
	defer one.receipts.Done()
	one.mutex.Lock()
	defer one.mutex.Unlock()
	if err == nil {
		one.outcome.ReceiptAtMs = append(one.outcome.ReceiptAtMs, millisecondsSince(started))
		one.outcome.LatencyMs = append(one.outcome.LatencyMs, millisecondsSince(sentAt))
		return
	}
	one.outcome.Failed++
	if one.outcome.Error == "" {
		one.outcome.Error = err.Error()
	}
}
