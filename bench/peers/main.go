// Servers in Go that answer what ours do, for `pnpm bench --peers`: `kv FOLDER PORT` keeps entries in goleveldb behind
// net/http; `parse FOLDER PORT STATUS TYPE BODY` gives one reply once it has parsed the body; `mercure FOLDER PORT KEY` is Mercure's
// hub, and `centrifuge FOLDER PORT` the engine of Centrifugo; both end their streams at `GET /closeall`.
package main

import (
	"context"
	"encoding/json"
	"io"
	"log"
	"log/slog"
	"net/http"
	"os"
	"strconv"

	"github.com/centrifugal/centrifuge"
	"github.com/dunglas/mercure"
	"github.com/syndtr/goleveldb/leveldb"
)

func kv(folder string) http.HandlerFunc {
	db, err := leveldb.OpenFile(folder, nil)
	if err != nil {
		log.Fatal(err)
	}
	return func(w http.ResponseWriter, r *http.Request) {
		id := []byte(r.URL.Query().Get("id"))
		if r.Method == http.MethodPut {
			value, err := io.ReadAll(r.Body)
			if err == nil {
				err = db.Put(id, value, nil)
			}
			if err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			w.WriteHeader(http.StatusCreated)
			return
		}
		value, err := db.Get(id, nil)
		if err != nil {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/octet-stream")
		w.Write(value)
	}
}

// What a search for a price is made of.
type search struct {
	OfferingID  string `json:"offeringId"`
	GroupID     string `json:"groupId"`
	PriceSpecID string `json:"priceSpecId"`
	CharValues  []struct {
		Char  string `json:"char"`
		Value string `json:"value"`
	} `json:"charValues"`
}

func parse(status int, kind, body string) http.HandlerFunc {
	bytes := []byte(body)
	return func(w http.ResponseWriter, r *http.Request) {
		var asked search
		if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(status)
		w.Write(bytes)
	}
}

func hub(key string) http.HandlerFunc {
	hub, err := mercure.NewHub(
		context.Background(),
		mercure.WithAnonymous(),
		mercure.WithPublisherJWT([]byte(key), "HS256"),
		mercure.WithSubscriberJWT([]byte(key), "HS256"),
		mercure.WithLogger(slog.New(slog.DiscardHandler)),
	)
	if err != nil {
		log.Fatal(err)
	}
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/closeall" {
			if err := hub.Stop(r.Context()); err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
			}
			return
		}
		hub.ServeHTTP(w, r)
	}
}

func engine() http.HandlerFunc {
	node, err := centrifuge.New(centrifuge.Config{})
	if err != nil {
		log.Fatal(err)
	}
	node.OnConnecting(func(context.Context, centrifuge.ConnectEvent) (centrifuge.ConnectReply, error) {
		return centrifuge.ConnectReply{
			Credentials:   &centrifuge.Credentials{},
			Subscriptions: map[string]centrifuge.SubscribeOptions{"all": {}},
		}, nil
	})
	if err := node.Run(); err != nil {
		log.Fatal(err)
	}
	streams := centrifuge.NewSSEHandler(node, centrifuge.SSEConfig{
		// Its pings would have to be answered by a request of their own.
		PingPongConfig: centrifuge.PingPongConfig{PingInterval: -1, PongTimeout: -1},
	})
	return func(w http.ResponseWriter, r *http.Request) {
		var err error
		switch r.URL.Path {
		case "/put":
			_, err = node.Publish("all", []byte(strconv.Quote(r.URL.Query().Get("v"))))
		case "/closeall":
			err = node.Shutdown(r.Context())
		default:
			streams.ServeHTTP(w, r)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	}
}

func main() {
	var handler http.HandlerFunc
	switch os.Args[1] {
	case "kv":
		handler = kv(os.Args[2])
	case "centrifuge":
		handler = engine()
	case "mercure":
		handler = hub(os.Args[4])
	default:
		status, _ := strconv.Atoi(os.Args[4])
		handler = parse(status, os.Args[5], os.Args[6])
	}
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Args[3], handler))
}
