// SPDX-License-Identifier: ISC
// Copyright (c) 2026 The libxtc authors

// Go: goroutines, channels, sync.Mutex and timers. Rows of one loop run on
// one P; those across threads lock their goroutines to two threads.
package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"sort"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	batches  = 100
	senders  = 8
	capacity = 4096
)

type peer struct {
	row         string
	count, size int
	best        float64
}

type message struct {
	from, left uint64
}

var epoch = time.Now()

func now() int64 {
	return int64(time.Since(epoch))
}

func cpu() float64 {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return float64(u.Utime.Nano() + u.Stime.Nano())
}

func (p *peer) batch() int {
	if p.count < batches {
		return 1
	}
	return p.count / batches
}

func (p *peer) note(since int64, n int) {
	ns := float64(now()-since) / float64(n)
	if p.best == 0 || ns < p.best {
		p.best = ns
	}
}

func (p *peer) print(metric string, value float64) {
	fmt.Printf("%s %s %.3f\n", p.row, metric, value)
}

func random(state *uint64) uint64 {
	*state ^= *state << 13
	*state ^= *state >> 7
	*state ^= *state << 17
	return *state
}

func check(holds bool, what string) {
	if !holds {
		fmt.Fprintln(os.Stderr, "wrong:", what)
		os.Exit(1)
	}
}

func statusBytes(name string) float64 {
	f, err := os.Open("/proc/self/status")
	check(err == nil, "/proc is needed")
	defer f.Close()
	in := bufio.NewScanner(f)
	for in.Scan() {
		w := strings.Fields(in.Text())
		if len(w) > 1 && w[0] == name+":" {
			kib, _ := strconv.ParseFloat(w[1], 64)
			return kib * 1024
		}
	}
	return 0
}

func yield(p *peer) {
	n := p.batch()/p.size + 1
	var all sync.WaitGroup
	started := 0
	for i := 0; i < p.size; i++ {
		all.Add(1)
		go func() {
			first := started == 0
			started++
			for b := 0; b < batches; b++ {
				t := now()
				for k := 0; k < n; k++ {
					runtime.Gosched()
				}
				if first {
					p.note(t, n*p.size)
				}
			}
			all.Done()
		}()
	}
	all.Wait()
}

func spawn(p *peer) {
	n, ran := p.batch(), 0
	for b := 0; b < batches; b++ {
		t := now()
		for k := 0; k < n; k++ {
			go func() { ran++ }()
			runtime.Gosched()
		}
		p.note(t, n)
	}
	for ran < n*batches {
		runtime.Gosched()
	}
}

func parked(p *peer) {
	never := make(chan message)
	ran, n := 0, float64(p.size)
	runtime.GC()
	rss, tables, t := statusBytes("VmRSS"), statusBytes("VmPTE"), cpu()
	for i := 0; i < p.size; i++ {
		go func() {
			ran++
			<-never
		}()
	}
	for ran < p.size {
		runtime.Gosched()
	}
	p.print("create_ns", (cpu()-t)/n)
	p.print("resident_bytes", (statusBytes("VmRSS")-rss)/n)
	p.print("tables_bytes", (statusBytes("VmPTE")-tables)/n)
	os.Exit(0)
}

func pair(p *peer, locked bool) {
	to, from := make(chan message), make(chan message)
	go func() {
		if locked {
			runtime.LockOSThread()
		}
		for m := range to {
			from <- m
		}
	}()
	if locked {
		runtime.LockOSThread()
	}
	n := p.batch()/2 + 1
	for b := 0; b < batches; b++ {
		t := now()
		for k := 0; k < n; k++ {
			to <- message{0, 1}
			<-from
		}
		p.note(t, 2*n)
	}
	close(to)
}

func pingpong(p *peer) {
	pair(p, false)
}

func pingpongThreads(p *peer) {
	runtime.GOMAXPROCS(2)
	pair(p, true)
}

func fanin(p *peer) {
	to := make(chan message, capacity)
	each := (p.count/senders/batches + 1) * batches
	for i := 0; i < senders; i++ {
		go func() {
			for k := 0; k < each; k++ {
				to <- message{0, 1}
			}
		}()
	}
	n := each * senders / batches
	for b := 0; b < batches; b++ {
		t := now()
		for k := 0; k < n; k++ {
			<-to
		}
		p.note(t, n)
	}
	p.print("million_per_s", 1e3/p.best)
	p.best = 0
}

func ring(p *peer) {
	c := make([]chan message, p.size)
	for i := range c {
		c[i] = make(chan message, 1)
	}
	for i := 1; i < p.size; i++ {
		in, out := c[i], c[(i+1)%p.size]
		go func() {
			for m := range in {
				out <- m
			}
		}()
	}
	n := p.batch()/p.size + 1
	for b := 0; b < batches; b++ {
		t := now()
		for k := 0; k < n; k++ {
			c[1%p.size] <- message{0, 1}
			<-c[0]
		}
		p.note(t, n*p.size)
	}
}

func mutex(p *peer) {
	var m sync.Mutex
	n, had := p.batch(), 0
	for b := 0; b < batches; b++ {
		t := now()
		for k := 0; k < n; k++ {
			m.Lock()
			had++
			m.Unlock()
		}
		p.note(t, n)
	}
	check(had == n*batches, "each lock was had")
}

// A lock may be had by one of them several times in a row, so what counts is
// how often it was had in all.
func mutexHandoff(p *peer) {
	var m sync.Mutex
	var all sync.WaitGroup
	n, had, started := p.batch()/p.size+1, 0, 0
	for i := 0; i < p.size; i++ {
		all.Add(1)
		go func() {
			first := started == 0
			started++
			for b := 0; b < batches; b++ {
				t, before := now(), had
				for k := 0; k < n; k++ {
					m.Lock()
					had++
					runtime.Gosched()
					m.Unlock()
				}
				if first {
					p.note(t, had-before)
				}
			}
			all.Done()
		}()
	}
	all.Wait()
}

func delay(state *uint64) time.Duration {
	return time.Minute + time.Duration(random(state)%uint64(119*time.Minute))
}

func never() {
	check(false, "a stopped timer has fired")
}

func timerNewest(p *peer) {
	state := uint64(88172645463325252)
	for i := 0; i < p.size; i++ {
		time.AfterFunc(delay(&state), never)
	}
	n := p.batch()
	for b := 0; b < batches; b++ {
		t := now()
		for k := 0; k < n; k++ {
			time.AfterFunc(delay(&state), never).Stop()
		}
		p.note(t, n)
	}
}

func timerOldest(p *peer) {
	state := uint64(88172645463325252)
	armed := make([]*time.Timer, p.size)
	for i := range armed {
		armed[i] = time.AfterFunc(delay(&state), never)
	}
	n, at := p.batch(), 0
	for b := 0; b < batches; b++ {
		t := now()
		for k := 0; k < n; k++ {
			armed[at].Stop()
			armed[at] = time.AfterFunc(delay(&state), never)
			at = (at + 1) % p.size
		}
		p.note(t, n)
	}
}

func sleepers(p *peer) {
	late := make([]int64, p.size)
	state := uint64(88172645463325252)
	done := int64(0)
	var all sync.WaitGroup
	for i := 0; i < p.size; i++ {
		all.Add(1)
		go func() {
			sleep := time.Second/2 +
				time.Duration(random(&state)%uint64(time.Second))
			at := now() + int64(sleep)
			time.Sleep(sleep)
			late[atomic.AddInt64(&done, 1)-1] = now() - at
			all.Done()
		}()
	}
	all.Wait()
	sort.Slice(late, func(i, j int) bool { return late[i] < late[j] })
	p.print("p50_us", float64(late[p.size/2])/1e3)
	p.print("p99_us", float64(late[p.size-p.size/100-1])/1e3)
}

var rows = []struct {
	name        string
	run         func(*peer)
	count, size int
}{
	{"yield", yield, 3000000, 2},
	{"spawn_fiber", spawn, 1000000, 0},
	{"pingpong", pingpong, 1000000, 0},
	{"pingpong_threads", pingpongThreads, 100000, 0},
	{"fanin", fanin, 4000000, 0},
	{"ring", ring, 1000000, 1000},
	{"mutex", mutex, 5000000, 0},
	{"mutex_handoff", mutexHandoff, 1000000, 8},
	{"timer", timerNewest, 1000000, 100000},
	{"timer_oldest", timerOldest, 1000000, 100000},
	{"sleepers", sleepers, 1, 100000},
	{"parked", parked, 1, 1000000},
}

func number(i, otherwise int) int {
	if len(os.Args) > i {
		n, err := strconv.Atoi(os.Args[i])
		check(err == nil, "a number")
		return n
	}
	return otherwise
}

func main() {
	known := false
	for _, r := range rows {
		if len(os.Args) > 1 && os.Args[1] == "--rows" {
			fmt.Println(r.name, r.count, r.size)
			known = true
		} else if len(os.Args) < 2 || os.Args[1] == r.name {
			p := &peer{r.name, number(2, r.count),
				number(3, r.size), 0}
			runtime.GOMAXPROCS(1)
			r.run(p)
			if p.best != 0 {
				p.print("ns", p.best)
			}
			known = true
		}
	}
	if !known {
		os.Exit(2)
	}
}
