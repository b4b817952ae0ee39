// Prints one record a line, as JSON: made by the CloudEvents SDK for JavaScript. See README.md here.

import { CloudEvent, Kafka } from "cloudevents";

const order = { id: "N1", to: "ada@example.com", name: "Ada" };
const event = new CloudEvent({
  id: "4d47e190",
  type: "note",
  source: "http://localhost",
  time: "2026-03-01T13:00:00+01:00",
  datacontenttype: "application/json",
  partitionkey: "N1",
  data: order,
});

const base64 = (value) =>
  value === undefined || value === null
    ? null
    : Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString("base64");

for (const mode of ["binary", "structured"]) {
  const { key, value, headers } = Kafka[mode](event);
  const written = Object.entries(headers).map(([name, text]) => [name, base64(text)]);
  console.log(
    JSON.stringify({
      name: `CloudEvents, JavaScript: ${mode}`,
      key: base64(key),
      value: base64(value),
      headers: written,
    }),
  );
}
