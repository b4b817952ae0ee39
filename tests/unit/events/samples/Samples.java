// Prints one record a line, as JSON: made by Debezium's outbox event router and Kafka Connect's
// converters, and by the CloudEvents SDK for Java. See README.md here.

import io.cloudevents.CloudEvent;
import io.cloudevents.core.builder.CloudEventBuilder;
import io.cloudevents.core.message.Encoding;
import io.cloudevents.jackson.JsonFormat;
import io.cloudevents.kafka.CloudEventSerializer;
import io.debezium.data.Envelope;
import io.debezium.transforms.outbox.EventRouter;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.json.JsonConverter;
import org.apache.kafka.connect.source.SourceRecord;
import org.apache.kafka.connect.storage.Converter;
import org.apache.kafka.connect.storage.HeaderConverter;
import org.apache.kafka.connect.storage.SimpleHeaderConverter;
import org.apache.kafka.connect.storage.StringConverter;

public class Samples {
    static final String ORDER =
        "{\"id\": \"N1\", \"to\": \"ada@example.com\", \"name\": \"Ada\"}";

    public static void main(String[] args) {
        for (boolean expand : new boolean[] {false, true}) {
            for (String placed : new String[] {"type:header:eventType", "type:envelope:eventType"}) {
                outbox(expand, placed);
            }
        }
        cloudEvents();
    }

    static void outbox(boolean expand, String placed) {
        EventRouter<SourceRecord> router = new EventRouter<>();
        Map<String, Object> config = new HashMap<>();
        config.put("table.fields.additional.placement", placed);
        config.put("table.expand.json.payload", String.valueOf(expand));
        router.configure(config);
        SourceRecord routed = router.apply(inserted());
        String setting = (expand ? "expanded" : "a string") + ", " + placed;
        for (String converter : new String[] {"string", "json", "json with schemas"}) {
            if (converter.equals("string") && !(routed.value() instanceof String)) {
                continue;  // it would print a struct in Java's own words
            }
            print("Debezium: " + setting + ", " + converter, routed, converter);
        }
        router.close();
    }

    static SourceRecord inserted() {
        Schema row = SchemaBuilder.struct()
            .field("id", Schema.STRING_SCHEMA)
            .field("aggregatetype", Schema.STRING_SCHEMA)
            .field("aggregateid", Schema.STRING_SCHEMA)
            .field("type", Schema.STRING_SCHEMA)
            .field("payload", SchemaBuilder.string().name("io.debezium.data.Json").optional().build())
            .build();
        Envelope envelope = Envelope.defineSchema()
            .withName("event.Envelope")
            .withRecord(row)
            .withSource(SchemaBuilder.struct().build())
            .build();
        Struct after = new Struct(row)
            .put("id", "4d47e190-0402-4048-bc2c-89dd54343cdc")
            .put("aggregatetype", "note")
            .put("aggregateid", "N1")
            .put("type", "note")
            .put("payload", ORDER);
        Struct value = envelope.create(after, null, Instant.ofEpochMilli(1772366400000L));
        return new SourceRecord(
            Map.of(), Map.of(), "db.outbox", envelope.schema(), value);
    }

    static Converter converter(String name, boolean key) {
        Converter made = name.equals("string") ? new StringConverter() : new JsonConverter();
        made.configure(Map.of("schemas.enable", name.endsWith("schemas") ? "true" : "false"), key);
        return made;
    }

    static HeaderConverter headers(String name) {
        HeaderConverter made = name.equals("string") ? new SimpleHeaderConverter() : new JsonConverter();
        made.configure(Map.of(
            "schemas.enable", name.endsWith("schemas") ? "true" : "false", "converter.type", "header"));
        return made;
    }

    static void print(String name, SourceRecord record, String converter) {
        String topic = record.topic();
        byte[] key = converter(converter, true).fromConnectData(topic, record.keySchema(), record.key());
        byte[] value =
            converter(converter, false).fromConnectData(topic, record.valueSchema(), record.value());
        List<String> written = new ArrayList<>();
        HeaderConverter headers = headers(converter);
        record.headers().forEach(h -> written.add(
            header(h.key(), headers.fromConnectHeader(topic, h.key(), h.schema(), h.value()))));
        print(name, key, value, written);
    }

    static void cloudEvents() {
        CloudEvent event = CloudEventBuilder.v1()
            .withId("4d47e190")
            .withType("note")
            .withSource(URI.create("http://localhost"))
            .withTime(OffsetDateTime.parse("2026-03-01T13:00:00+01:00"))
            .withData("application/json", ORDER.getBytes(StandardCharsets.UTF_8))
            .build();
        for (Encoding encoding : new Encoding[] {Encoding.BINARY, Encoding.STRUCTURED}) {
            CloudEventSerializer serializer = new CloudEventSerializer();
            serializer.configure(Map.of(
                CloudEventSerializer.ENCODING_CONFIG, encoding,
                CloudEventSerializer.EVENT_FORMAT_CONFIG, JsonFormat.CONTENT_TYPE), false);
            RecordHeaders headers = new RecordHeaders();
            byte[] value = serializer.serialize("orders", headers, event);
            List<String> written = new ArrayList<>();
            headers.forEach(h -> written.add(header(h.key(), h.value())));
            print("CloudEvents, Java: " + encoding, null, value, written);
        }
    }

    static String header(String name, byte[] value) {
        return "[\"" + name + "\", " + base64(value) + "]";
    }

    static String base64(byte[] bytes) {
        return bytes == null ? "null" : "\"" + Base64.getEncoder().encodeToString(bytes) + "\"";
    }

    static void print(String name, byte[] key, byte[] value, List<String> headers) {
        System.out.println("{\"name\": \"" + name + "\", \"key\": " + base64(key) + ", \"value\": "
            + base64(value) + ", \"headers\": [" + String.join(", ", headers) + "]}");
    }
}
