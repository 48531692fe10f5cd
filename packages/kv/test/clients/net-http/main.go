// Client of kv on net/http: kv-clients.slow.test.ts describes its commands.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
)

type command struct {
	Do, Id, IfMatch, IfNoneMatch, Prefix, Limit, Cursor, After, Progress string
	Value                                                      []byte
}

var base = os.Args[1]

func write(reply any) {
	line, err := json.Marshal(reply)
	check(err)
	fmt.Println(string(line))
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func entity(c command) {
	address := base + "/v0/entity?" + url.Values{"id": {c.Id}}.Encode()
	request, err := http.NewRequest(c.Do, address, bytes.NewReader(c.Value))
	check(err)
	if c.IfMatch != "" {
		request.Header.Set("If-Match", c.IfMatch)
	}
	if c.IfNoneMatch != "" {
		request.Header.Set("If-None-Match", c.IfNoneMatch)
	}
	reply, err := http.DefaultClient.Do(request)
	check(err)
	defer reply.Body.Close()
	value, err := io.ReadAll(reply.Body)
	check(err)
	write(map[string]any{"status": reply.StatusCode, "etag": reply.Header.Get("ETag"), "value": value})
}

func query(c command, path string) string {
	values := url.Values{}
	for name, value := range map[string]string{"prefix": c.Prefix, "limit": c.Limit, "cursor": c.Cursor, "after": c.After, "progress": c.Progress} {
		if value != "" {
			values.Set(name, value)
		}
	}
	return base + path + "?" + values.Encode()
}

func page(c command) {
	reply, err := http.Get(query(c, "/v0/entities"))
	check(err)
	defer reply.Body.Close()
	lines := []json.RawMessage{}
	scanner := bufio.NewScanner(reply.Body)
	for scanner.Scan() {
		lines = append(lines, json.RawMessage(strings.Clone(scanner.Text())))
	}
	check(scanner.Err())
	answer := map[string]any{"status": reply.StatusCode, "lines": lines, "next": nil}
	if next := reply.Header.Get("next"); next != "" {
		answer["next"], err = url.QueryUnescape(next)
		check(err)
	}
	write(answer)
}

func watch(c command) {
	reply, err := http.Get(query(c, "/v0/watch"))
	check(err)
	defer reply.Body.Close()
	write(map[string]any{"status": reply.StatusCode})
	block := map[string]string{}
	scanner := bufio.NewScanner(reply.Body)
	for scanner.Scan() {
		if strings.HasPrefix(scanner.Text(), ":") {
			continue
		}
		if name, text, found := strings.Cut(scanner.Text(), ": "); found {
			block[name] = text
		} else if len(block) > 0 {
			write(block)
			block = map[string]string{}
		}
	}
	write(map[string]any{"end": fmt.Sprint(scanner.Err())})
}

func main() {
	commands := json.NewDecoder(os.Stdin)
	for {
		var c command
		if err := commands.Decode(&c); err == io.EOF {
			return
		} else {
			check(err)
		}
		switch c.Do {
		case "watch":
			watch(c)
		case "page":
			page(c)
		default:
			entity(c)
		}
	}
}
