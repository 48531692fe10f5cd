// Judges histories of registers with Porcupine, a checker of linearizability: one history a line of the input, an array of
// what packages/kv/test/support/linearizable.ts calls operations; "Ok", "Illegal" or "Unknown" a line of the output.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"log"
	"math"
	"os"
	"time"

	"github.com/anishathalye/porcupine"
)

// After so long nobody knows.
const patience = 60 * time.Second

type operation struct {
	Type       string  `json:"type"`
	CalledAt   float64 `json:"calledAt"`
	ReturnedAt float64 `json:"returnedAt"`
	// What a read found, or a write leaves; nothing where there is none.
	Found *string `json:"found"`
	Value *string `json:"value"`
	// "done", "refused" or "unknown".
	Outcome   string `json:"outcome"`
	Condition *struct {
		Match     *string `json:"match"`
		NoneMatch *string `json:"noneMatch"`
	} `json:"condition"`
}

// What the register holds.
type value struct {
	isThere bool
	text    string
}

func valueOf(text *string) value {
	if text == nil {
		return value{}
	}
	return value{true, *text}
}

func (one operation) isMet(held value) bool {
	switch {
	case one.Condition == nil:
		return true
	case one.Condition.NoneMatch != nil:
		return !held.isThere
	case *one.Condition.Match == "*":
		return held.isThere
	default:
		return held == value{true, *one.Condition.Match}
	}
}

var register = porcupine.Model{
	Init: func() interface{} { return value{} },
	Step: func(state, input, _ interface{}) (bool, interface{}) {
		held, one := state.(value), input.(operation)
		if one.Type == "read" {
			return held == valueOf(one.Found), held
		}
		isMet := one.isMet(held)
		if one.Outcome != "unknown" && isMet != (one.Outcome == "done") {
			return false, held
		}
		if !isMet {
			return true, held
		}
		return true, valueOf(one.Value)
	},
}

func judge(history []operation) porcupine.CheckResult {
	operations := make([]porcupine.Operation, len(history))
	for i, one := range history {
		// It may take effect at any later time: behind all that is read, it is as if it never had.
		end := int64(math.MaxInt64)
		if one.Outcome != "unknown" {
			end = nanoseconds(one.ReturnedAt)
		}
		// Each by a client of its own: one whose outcome is not known would stop the others of its client.
		operations[i] = porcupine.Operation{ClientId: i, Input: one, Call: nanoseconds(one.CalledAt), Return: end}
	}
	return porcupine.CheckOperationsTimeout(register, operations, patience)
}

func nanoseconds(ms float64) int64 { return int64(math.Round(ms * 1e6)) }

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 64*1024*1024)
	for lines.Scan() {
		var history []operation
		if err := json.Unmarshal(lines.Bytes(), &history); err != nil {
			log.Fatal(err)
		}
		fmt.Println(judge(history))
	}
	if err := lines.Err(); err != nil {
		log.Fatal(err)
	}
}
