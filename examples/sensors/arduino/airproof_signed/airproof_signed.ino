// A sensor on an ESP32 that signs its readings with Ed25519, over HTTP. libsodium is part of the ESP32
// core. Its key is made at the first start and stays in flash; what it prints goes to the registry:
// npx airproof sensors set ID --public-key … --signature required
#include <HTTPClient.h>
#include <Preferences.h>
#include <WiFi.h>
#include <sodium.h>
#include <time.h>

const char *SENSOR = "NGR-LOS-IKJ-017";
const char *KEY = "aqs_...";
const char *PUSH_URL = "http://air.example.org:8082/push/readings";
const unsigned long INTERVAL_MS = 300000;

unsigned char publicKey[crypto_sign_PUBLICKEYBYTES];
unsigned char privateKey[crypto_sign_SECRETKEYBYTES];
unsigned long measuredMs = 0;

String base64(const unsigned char *bytes, size_t length) {
  char text[sodium_base64_ENCODED_LEN(crypto_sign_BYTES, sodium_base64_VARIANT_ORIGINAL)];
  sodium_bin2base64(text, sizeof text, bytes, length, sodium_base64_VARIANT_ORIGINAL);
  return String(text);
}

void loadKey() {
  unsigned char seed[crypto_sign_SEEDBYTES];
  Preferences flash;
  flash.begin("airproof");
  if (flash.getBytes("seed", seed, sizeof seed) != sizeof seed) {
    randombytes_buf(seed, sizeof seed);
    flash.putBytes("seed", seed, sizeof seed);
  }
  flash.end();
  crypto_sign_seed_keypair(publicKey, privateKey, seed);
  sodium_memzero(seed, sizeof seed);
}

String signedBody(time_t at, float pm25, float pm10) {
  // The texts of the numbers are made once: the JSON and what is signed have the same.
  String fine(pm25, 1);
  String coarse(pm10, 1);
  // the values in the order of their names; "000": the time is in ms
  String text = String("airproof.device.v1\n") + SENSOR + "\n" + String((unsigned long)at) + "000" +
                "\npm10=" + coarse + "\npm25=" + fine;
  unsigned char signature[crypto_sign_BYTES];
  crypto_sign_detached(signature, nullptr, (const unsigned char *)text.c_str(), text.length(),
                       privateKey);
  char timestamp[24];
  strftime(timestamp, sizeof timestamp, "%Y-%m-%dT%H:%M:%SZ", gmtime(&at));
  return String("{\"timestamp\":\"") + timestamp + "\",\"pm25\":" + fine + ",\"pm10\":" + coarse +
         ",\"sig\":\"" + base64(signature, sizeof signature) + "\"}";
}

void measure() {
  // your sensor's values here
  String body = signedBody(time(nullptr), 45.3f, 78.2f);
  HTTPClient http;
  http.begin(PUSH_URL);
  http.setAuthorization(SENSOR, KEY);
  int status = http.POST(body);
  // keep it and send it again where it was not stored: airproof_sensor.ino shows how
  Serial.println(status == 202 ? "stored" : String("not stored: ") + String(status));
  http.end();
}

void setup() {
  Serial.begin(115200);
  WiFi.begin("network", "password");
  while (WiFi.status() != WL_CONNECTED) delay(250);
  configTime(0, 0, "pool.ntp.org");
  // what is signed is signed with its time: without the right one every reading is refused
  while (time(nullptr) < 1700000000) delay(250);
  // the radio is on, so the chip's random numbers are good
  if (sodium_init() < 0) return;
  loadKey();
  Serial.println("public key: " + base64(publicKey, sizeof publicKey));
  measure();
}

void loop() {
  if (millis() - measuredMs < INTERVAL_MS) return;
  measuredMs = millis();
  measure();
}
