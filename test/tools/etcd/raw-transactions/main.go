// Command raw-transactions measures etcd alone: it writes the keys and as many bytes as an allocator writes for allocations, one
// transaction after the other. It prints the allocations per second.
//
// A transaction has an event and a claim for each of its allocations, and the head, and requires that its first event is absent.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// callTimeout ends a transaction, or the connection attempt, of a server that does not reply.
const callTimeout = 10 * time.Second

// load is what is written.
type load struct {
	first, count, perTransaction int
	event, claim, head           string
}

func main() {
	endpoint := flag.String("endpoint", "", "host:port of etcd")
	first := flag.Int("first", 1, "number of the first allocation; its keys must not exist")
	count := flag.Int("count", 6_000, "allocations")
	perTransaction := flag.Int("per-transaction", 63, "allocations in one transaction")
	eventBytes := flag.Int("event-bytes", 0, "length of the value of an event")
	claimBytes := flag.Int("claim-bytes", 0, "length of the value of a claim")
	headBytes := flag.Int("head-bytes", 0, "length of the value of the head")
	flag.Parse()
	text := func(length int) string { return strings.Repeat("x", length) }
	rate, err := measure(*endpoint, load{
		first: *first, count: *count, perTransaction: *perTransaction,
		event: text(*eventBytes), claim: text(*claimBytes), head: text(*headBytes),
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "raw-transactions:", err)
		os.Exit(1)
	}
	fmt.Println(rate)
}

// measure returns the allocations per second. The connection, and a read over it, come before the measurement.
func measure(endpoint string, load load) (float64, error) {
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{endpoint}, DialTimeout: callTimeout})
	if err != nil {
		return 0, err
	}
	defer client.Close()
	if err := within(func(ctx context.Context) error {
		_, err := client.Get(ctx, "head")
		return err
	}); err != nil {
		return 0, err
	}
	startedAt := time.Now()
	for written := 0; written < load.count; written += load.perTransaction {
		first, count := load.first+written, min(load.perTransaction, load.count-written)
		if err := write(client, load, first, count); err != nil {
			return 0, err
		}
	}
	return float64(load.count) / time.Since(startedAt).Seconds(), nil
}

// write commits one transaction.
func write(client *clientv3.Client, load load, first, count int) error {
	puts := make([]clientv3.Op, 0, 2*count+1)
	for seq := first; seq < first+count; seq++ {
		address := fmt.Sprintf("10.%d.%d.%d", seq>>16&255, seq>>8&255, seq&255)
		puts = append(puts,
			clientv3.OpPut(eventKey(seq), load.event),
			clientv3.OpPut("/ipledger/v1/addr/bench/"+address, load.claim))
	}
	puts = append(puts, clientv3.OpPut("/ipledger/v1/head", load.head))
	isAbsent := clientv3.Compare(clientv3.CreateRevision(eventKey(first)), "=", 0)
	return within(func(ctx context.Context) error {
		reply, err := client.Txn(ctx).If(isAbsent).Then(puts...).Commit()
		if err == nil && !reply.Succeeded {
			err = errors.New(eventKey(first) + " exists")
		}
		return err
	})
}

func eventKey(seq int) string { return fmt.Sprintf("/ipledger/v1/log/%016d", seq) }

func within(call func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), callTimeout)
	defer cancel()
	return call(ctx)
}
