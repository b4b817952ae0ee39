// Prints one record a line, as JSON: made by the CloudEvents SDK for Go. See README.md here.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/IBM/sarama"
	kafka "github.com/cloudevents/sdk-go/protocol/kafka_sarama/v2"
	cloudevents "github.com/cloudevents/sdk-go/v2"
	"github.com/cloudevents/sdk-go/v2/binding"
)

type record struct {
	Name    string   `json:"name"`
	Key     []byte   `json:"key"`
	Value   []byte   `json:"value"`
	Headers [][2]any `json:"headers"`
}

func main() {
	event := cloudevents.NewEvent()
	event.SetID("4d47e190")
	event.SetType("note")
	event.SetSource("http://localhost")
	event.SetTime(time.Date(2026, 3, 1, 13, 0, 0, 0, time.FixedZone("", 3600)))
	order := map[string]string{"id": "N1", "to": "ada@example.com", "name": "Ada"}
	if err := event.SetData(cloudevents.ApplicationJSON, order); err != nil {
		panic(err)
	}
	write("binary", binding.WithForceBinary(context.Background()), event)
	write("structured", binding.WithForceStructured(context.Background()), event)
}

func write(mode string, ctx context.Context, event cloudevents.Event) {
	message := &sarama.ProducerMessage{}
	if err := kafka.WriteProducerMessage(ctx, binding.ToMessage(&event), message); err != nil {
		panic(err)
	}
	value, err := message.Value.Encode()
	if err != nil {
		panic(err)
	}
	made := record{Name: "CloudEvents, Go: " + mode, Value: value}
	for _, header := range message.Headers {
		made.Headers = append(made.Headers, [2]any{string(header.Key), header.Value})
	}
	line, _ := json.Marshal(made)
	fmt.Println(string(line))
}
