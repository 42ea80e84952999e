// A receiver of webhooks that believes only what is signed:
//
//	WEBHOOK_SECRET=whsec_… PORT=9000 go run .
//
// Prints a line of JSON for each delivery; what came before is answered and not printed as new.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"time"
)

const longestBody = 1 << 20
const mostSeen = 10_000

type payload struct {
	Event     string `json:"event"`
	Timestamp string `json:"timestamp"`
	Data      struct {
		SensorID string `json:"sensor_id"`
	} `json:"data"`
}

type line struct {
	ID        string `json:"id"`
	Event     string `json:"event"`
	Timestamp string `json:"timestamp"`
	Sensor    string `json:"sensor"`
	Repeat    bool   `json:"repeat"`
}

// receiver remembers ids: deliveries come at least once, and the id says which are the same.
type receiver struct {
	secret, header string
	mutex          sync.Mutex
	seen           map[string]bool
	order          []string
}

func (r *receiver) isRepeat(id string) bool {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.seen[id] {
		return true
	}
	r.seen[id] = true
	r.order = append(r.order, id)
	if len(r.order) > mostSeen {
		delete(r.seen, r.order[0])
		r.order = r.order[1:]
	}
	return false
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, request.Body, longestBody))
	if err != nil {
		w.WriteHeader(http.StatusRequestEntityTooLarge)
		return
	}
	id, err := verifyStandard(request.Header, body, r.secret, time.Now())
	if err == nil {
		err = verifyService(request.Header, body, r.secret, r.header)
	}
	if err != nil {
		tell(map[string]string{"refused": err.Error()})
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	var p payload
	if json.Unmarshal(body, &p) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	tell(line{id, p.Event, p.Timestamp, p.Data.SensorID, r.isRepeat(id)})
	w.WriteHeader(http.StatusNoContent)
}

func tell(value any) {
	text, _ := json.Marshal(value)
	fmt.Println(string(text))
}

func setting(name, otherwise string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return otherwise
}

func main() {
	secret := os.Getenv("WEBHOOK_SECRET")
	if secret == "" {
		fmt.Fprintln(os.Stderr, "set WEBHOOK_SECRET to the secret that was shown when the webhook was made")
		os.Exit(2)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:"+setting("PORT", "9000"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("listening on http://%s\n", listener.Addr())
	handler := &receiver{
		secret: secret,
		header: setting("SIGNATURE_HEADER", "X-Service-Signature"),
		seen:   map[string]bool{},
	}
	server := &http.Server{Handler: handler, ReadTimeout: 15 * time.Second}
	if err := server.Serve(listener); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
