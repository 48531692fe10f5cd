// r3labs/sse and net/http. Arguments: `read URL TOPIC...` or `send URL TOPIC DATA`, as in ../client-program.ts.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/r3labs/sse/v2"
)

func read(target string, topics []string) {
	client := sse.NewClient(target + "?" + url.Values{"topic": topics}.Encode())
	for {
		// Reconnects after an error, and returns after a clean end. The client keeps the id of its last event.
		err := client.Subscribe("messages", func(message *sse.Event) {
			event := string(message.Event)
			if event == "" {
				event = "message"
			}
			print(map[string]string{"id": string(message.ID), "event": event, "data": string(message.Data)})
		})
		if err != nil {
			log.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func send(target, topic, data, jwt string) {
	body, contentType := data, "text/plain; charset=utf-8"
	isPut := strings.HasSuffix(target, "/put")
	if isPut {
		target += "?" + url.Values{"topic": {topic}}.Encode()
	} else {
		body, contentType = url.Values{"topic": {topic}, "data": {data}}.Encode(), "application/x-www-form-urlencoded"
	}
	request, err := http.NewRequest("POST", target, strings.NewReader(body))
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Content-Type", contentType)
	request.Header.Set("Authorization", "Bearer "+jwt)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != 200 {
		log.Fatal(response.Status, string(text), err)
	}
	id := string(text)
	if isPut {
		id = response.Header.Get("Event-Id")
	}
	print(map[string]string{"id": id})
}

func print(value map[string]string) {
	line, err := json.Marshal(value)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(line))
}

func main() {
	if os.Args[1] == "send" {
		send(os.Args[2], os.Args[3], os.Args[4], os.Getenv("MERCURE_JWT"))
	} else {
		read(os.Args[2], os.Args[3:])
	}
}
