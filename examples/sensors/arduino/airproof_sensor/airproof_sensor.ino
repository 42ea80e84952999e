// A sensor over MQTT on an ESP32, with PubSubClient 2.8. It keeps each reading until a receipt says
// that it is stored. The sensor must have asked for receipts.
#include <PubSubClient.h>
#include <WiFi.h>
#include <time.h>

const char *SENSOR = "NGR-LOS-IKJ-017";
const char *KEY = "aqs_...";
const char *HOST = "mqtt.example.org";
const uint16_t PORT = 1883;
const unsigned long INTERVAL_MS = 300000;

struct Reading {
  time_t at;
  float pm25;
  float pm10;
};
// a day of one every five minutes; then the oldest go
const int MOST_KEPT = 288;
Reading kept[MOST_KEPT];
int count = 0;

WiFiClient network;  // for TLS: WiFiClientSecure, setCACert(…), port 8883
PubSubClient mqtt(network);
unsigned long measuredMs = 0;

void drop(int howMany) {
  memmove(kept, kept + howMany, (count - howMany) * sizeof(Reading));
  count -= howMany;
}

void measure() {
  if (count == MOST_KEPT) drop(1);
  // your sensor's values here
  kept[count++] = {time(nullptr), 45.3f, 78.2f};
}

String textOf(time_t at) {
  char text[24];
  strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", gmtime(&at));
  return String(text);
}

// {"timestamp":"2026-01-31T05:05:00Z","stored":1,"refused":0}
void onReceipt(char *topic, uint8_t *payload, unsigned int length) {
  String receipt;
  for (unsigned int i = 0; i < length; i++) receipt += (char)payload[i];
  int start = receipt.indexOf("\"timestamp\":\"");
  if (start < 0) return;
  String storedTo = receipt.substring(start + 13, start + 33);
  int stored = 0;
  // all are UTC in whole seconds: their texts order as their times do
  while (stored < count && textOf(kept[stored].at).compareTo(storedTo) <= 0) stored++;
  drop(stored);
}

// Oldest first, so that one timestamp says what is stored. An array counts as one message.
void send() {
  if (count == 0 || !mqtt.connected()) return;
  int some = min(count, 20);
  String body = "[";
  for (int i = 0; i < some; i++) {
    if (i > 0) body += ',';
    body += "{\"timestamp\":\"" + textOf(kept[i].at) + "\",\"pm25\":" + String(kept[i].pm25, 1) +
            ",\"pm10\":" + String(kept[i].pm10, 1) + "}";
  }
  body += ']';
  mqtt.publish((String("air/raw/") + SENSOR).c_str(), body.c_str());
}

void connectAgain() {
  if (mqtt.connect(SENSOR, SENSOR, KEY)) {
    mqtt.subscribe((String("air/ack/") + SENSOR).c_str());
    send();
    return;
  }
  // after an outage every sensor of the city comes back: not all in the same second
  delay(1000 + random(9000));
}

void setup() {
  WiFi.begin("network", "password");
  while (WiFi.status() != WL_CONNECTED) delay(250);
  configTime(0, 0, "pool.ntp.org");
  // without the right time every reading is refused
  while (time(nullptr) < 1700000000) delay(250);
  // its buffer is 256 bytes otherwise, and what is longer is dropped without a word
  mqtt.setBufferSize(2048);
  mqtt.setServer(HOST, PORT);
  mqtt.setCallback(onReceipt);
  measure();
}

void loop() {
  if (!mqtt.connected()) connectAgain();
  mqtt.loop();
  if (millis() - measuredMs < INTERVAL_MS) return;
  measuredMs = millis();
  measure();
  send();
}
