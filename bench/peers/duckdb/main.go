// `duckdb FILE SECONDS` reads a table of prices, a line of names and then a price a line, its value last and the number of its
// row, into DuckDB in memory, and finds random ones of them by all their other columns. It tells the nanoseconds of a search.
package main

import (
	"database/sql"
	"encoding/csv"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"time"

	_ "github.com/duckdb/duckdb-go/v2"
)

func main() {
	log.SetFlags(0)
	lines := read(os.Args[1])
	seconds, err := strconv.ParseFloat(os.Args[2], 64)
	must(err)
	names, rows := lines[0], lines[1:]
	conditions := names[:len(names)-1]

	db, err := sql.Open("duckdb", "")
	must(err)
	db.SetMaxOpenConns(1)
	for _, text := range []string{
		"set threads = 1",
		"create table price as from read_csv('" + os.Args[1] + "', header = true, all_varchar = true)",
		"create index by_all on price (" + strings.Join(conditions, ", ") + ")",
	} {
		_, err := db.Exec(text)
		must(err)
	}
	find, err := db.Prepare("select value from price where " + strings.Join(conditions, " = ? and ") + " = ?")
	must(err)

	run(find, rows, seconds) // Warms up.
	fmt.Println(run(find, rows, seconds))
}

// Nanoseconds a search.
func run(find *sql.Stmt, rows [][]string, seconds float64) int64 {
	start := time.Now()
	for searches := int64(1); ; searches++ {
		search(find, rows[rand.IntN(len(rows))])
		if took := time.Since(start); took.Seconds() >= seconds {
			return took.Nanoseconds() / searches
		}
	}
}

func search(find *sql.Stmt, row []string) {
	asked := make([]any, len(row)-1)
	for i := range asked {
		asked[i] = row[i]
	}
	var value string
	must(find.QueryRow(asked...).Scan(&value))
	if value != row[len(asked)] {
		log.Fatalf("found %s for row %s", value, row[len(asked)])
	}
}

func read(name string) [][]string {
	file, err := os.Open(name)
	must(err)
	defer file.Close()
	lines, err := csv.NewReader(file).ReadAll()
	must(err)
	return lines
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
