// Goroutines call BLAS through cgo while the collector runs and goroutines that never call are preempted, by SIGURG.
package main

// #include "guest.h"
import "C"

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"time"
)

func compute(turns int) {
	for turn := 0; turn < turns; turn++ {
		if C.right_product(C.int(20+70*(turn%6))) != 1 {
			fmt.Println("wrong")
			os.Exit(1)
		}
	}
}

func main() {
	if len(os.Args) > 1 { // the process ends in the middle
		for i := 0; i < 8; i++ {
			go compute(1 << 30)
		}
		time.Sleep(400 * time.Millisecond)
		os.Exit(7)
	}
	var group sync.WaitGroup
	var spun [4]int
	stop := time.Now().Add(time.Second)
	for i := range spun {
		group.Add(1)
		go func(i int) {
			defer group.Done()
			for time.Now().Before(stop) {
				for j := 0; j < 1000000; j++ { // no call: only a signal can interrupt it
					spun[i]++
				}
			}
		}(i)
	}
	for i := 0; i < 12; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			compute(25)
		}()
	}
	for i := 0; i < 40; i++ {
		runtime.GC()
	}
	group.Wait()
	fmt.Println("right")
}
