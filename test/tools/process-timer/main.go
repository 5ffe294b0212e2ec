// Command process-timer runs programs, one after the other or at the same time, and measures each from exec to its end. It
// reads the calls from stdin and prints their durations. A process costs it one vfork, the same for each program that it
// measures; the bench itself needs 4 ms of Node for each.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

type batch struct {
	// AtOnce starts all calls before one has ended.
	AtOnce bool   `json:"atOnce"`
	Calls  []call `json:"calls"`
}

type call struct {
	Program string   `json:"program"`
	Args    []string `json:"args"`
	Env     []string `json:"env"`
	// Input fits into a pipe (64 KiB), which is filled before the program starts.
	Input string `json:"input"`
}

type report struct {
	// Ms lasts from the first start to the last end.
	Ms    float64  `json:"ms"`
	Calls []result `json:"calls"`
}

type result struct {
	Ms     float64 `json:"ms"`
	Code   int     `json:"code"`
	Stdout string  `json:"stdout"`
}

func main() {
	var work batch
	must(json.NewDecoder(os.Stdin).Decode(&work))
	results := make([]result, len(work.Calls))
	var running sync.WaitGroup
	startedAt := time.Now()
	for i, each := range work.Calls {
		if work.AtOnce {
			running.Go(func() { results[i] = run(each) })
		} else {
			results[i] = run(each)
		}
	}
	running.Wait()
	must(json.NewEncoder(os.Stdout).Encode(report{sinceMs(startedAt), results}))
}

// run starts a program by vfork, and waits until it has closed its stdout and ended. stderr is the timer's own.
func run(each call) result {
	input, filled, err := os.Pipe()
	must(err)
	_, err = filled.WriteString(each.Input)
	must(err)
	must(filled.Close())
	output, stdout, err := os.Pipe()
	must(err)
	startedAt := time.Now()
	process, err := os.StartProcess(each.Program, append([]string{each.Program}, each.Args...), &os.ProcAttr{
		Env: each.Env, Files: []*os.File{input, stdout, os.Stderr},
	})
	must(err)
	must(stdout.Close())
	printed, err := io.ReadAll(output)
	must(err)
	state, err := process.Wait()
	must(err)
	ms := sinceMs(startedAt)
	must(input.Close())
	must(output.Close())
	return result{ms, state.ExitCode(), string(printed)}
}

func sinceMs(start time.Time) float64 { return float64(time.Since(start).Microseconds()) / 1_000 }

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "process-timer:", err)
		os.Exit(1)
	}
}
