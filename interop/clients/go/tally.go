package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/apache/pulsar-client-go/pulsar"
)

func bodyOf(index, keys, sizeBytes int) []byte {
	header := fmt.Appendf(nil, `{"key":"k%d","sequence":%d,"index":%d}`, index%keys, index/keys, index)
	return append(header, bytes.Repeat([]byte(" "), max(0, sizeBytes-len(header)))...)
}

// Counts what arrives. The digest is over the bodies in the order of their index, each once.
type tally struct {
	received    int
	duplicates  int
	orderBroken int
	redelivered int
	bodies      map[int][]byte
	last        map[string]int
}

func newTally() *tally {
	return &tally{bodies: map[int][]byte{}, last: map[string]int{}}
}

// Whether the message comes for the first time.
func (seen *tally) add(message pulsar.Message) bool {
	var header struct {
		Key      string
		Sequence int
		Index    int
	}
	if err := json.Unmarshal(message.Payload(), &header); err != nil {
		panic(err)
	}
	seen.received++
	if message.RedeliveryCount() > 0 {
		seen.redelivered++
	}
	if _, isKnown := seen.bodies[header.Index]; isKnown {
		seen.duplicates++
		return false
	}
	seen.bodies[header.Index] = message.Payload()
	if before, isKnown := seen.last[header.Key]; isKnown && header.Sequence <= before {
		seen.orderBroken++
	}
	seen.last[header.Key] = header.Sequence
	return true
}

func (seen *tally) outcome() fields {
	digest := sha256.New()
	for _, index := range slices.Sorted(maps.Keys(seen.bodies)) {
		digest.Write(seen.bodies[index])
	}
	return fields{
		"received":          seen.received,
		"distinct":          len(seen.bodies),
		"digest":            hex.EncodeToString(digest.Sum(nil)),
		"perKeyOrderBroken": seen.orderBroken,
		"duplicates":        seen.duplicates,
		"redelivered":       seen.redelivered,
	}
}
