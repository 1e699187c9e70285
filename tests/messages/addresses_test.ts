import { assertEquals, assertThrows } from "@std/assert";
import {
  formatAddress,
  formatEndpointUri,
  hostToDial,
  InvalidAddressError,
  normalizeHost,
  parseEndpointUri,
  parseMasterUrls,
  parseSparkUrl,
  sameAddress,
  toSparkUrl,
} from "../../lib/messages/addresses.ts";

// RpcAddressSuite
Deno.test("addresses: host and port make an address and a URL that parses back", () => {
  const address = { host: "1.2.3.4", port: 1234 };
  assertEquals(formatAddress(address), "1.2.3.4:1234");
  assertEquals(toSparkUrl(address), "spark://1.2.3.4:1234");
  assertEquals(parseSparkUrl("spark://1.2.3.4:1234"), address);
});

// RpcAddressSuite
for (
  const url of [
    "spark://1.2. 3.4:1234",
    "invalid://1.2.3.4:1234",
    "spark://host",
    "spark://host:",
    "spark://:7077",
    "spark://host:65536",
    "spark://host:7077/path",
    "spark://name@host:7077",
    "spark://host:7077?a=b",
    "spark://::1:7077",
    "host:7077",
    "",
  ]
) {
  Deno.test(`addresses: "${url}" is no master URL`, () => {
    const error = assertThrows(() => parseSparkUrl(url), InvalidAddressError);
    assertEquals(error.message, `Invalid master URL: ${url}`);
  });
}

// RpcAddressSuite
Deno.test("addresses: an IPv6 host is kept in brackets and in its shortest form", () => {
  assertEquals(normalizeHost("::1"), "[::1]");
  assertEquals(normalizeHost("[::1]"), "[::1]");
  assertEquals(normalizeHost("::0:1"), "[::1]");
  assertEquals(normalizeHost("2600::"), "[2600::]");
  assertEquals(
    toSparkUrl({ host: normalizeHost("::1"), port: 1234 }),
    "spark://[::1]:1234",
  );
  assertEquals(parseSparkUrl("spark://[::0:1]:1234"), {
    host: "[::1]",
    port: 1234,
  });
  assertEquals(hostToDial("[::1]"), "::1");
});

Deno.test("addresses: names and IPv4 hosts stay as they are", () => {
  for (const host of ["localhost", "1.2.3.4", "a-b.example.com"]) {
    assertEquals(normalizeHost(host), host);
    assertEquals(hostToDial(host), host);
  }
});

Deno.test("addresses: what has a colon and is no IPv6 address is refused", () => {
  for (const host of ["a:b", "1:2", "[::1", ":::"]) {
    assertThrows(() => normalizeHost(host), InvalidAddressError, host);
  }
});

// NettyRpcAddressSuite
Deno.test("addresses: an endpoint's URI names it and parses back", () => {
  const ref = { name: "test", address: { host: "localhost", port: 12345 } };
  assertEquals(formatEndpointUri(ref), "spark://test@localhost:12345");
  assertEquals(parseEndpointUri("spark://test@localhost:12345"), ref);
  assertEquals(parseEndpointUri("spark://a-b@[::1]:1"), {
    name: "a-b",
    address: { host: "[::1]", port: 1 },
  });
});

for (
  const uri of [
    "spark://localhost:12345",
    "spark://@localhost:12345",
    "spark://test@localhost",
    "http://test@localhost:12345",
    "spark://test@localhost:99999",
  ]
) {
  Deno.test(`addresses: "${uri}" is no URI of an endpoint`, () => {
    const error = assertThrows(
      () => parseEndpointUri(uri),
      InvalidAddressError,
    );
    assertEquals(error.message, `Invalid Spark URL: ${uri}`);
  });
}

Deno.test("addresses: one URL can name several masters", () => {
  assertEquals(parseMasterUrls("spark://h1:7077"), [{
    host: "h1",
    port: 7077,
  }]);
  assertEquals(parseMasterUrls("spark://h1:7077,[::1]:7078,1.2.3.4:7079"), [
    { host: "h1", port: 7077 },
    { host: "[::1]", port: 7078 },
    { host: "1.2.3.4", port: 7079 },
  ]);
});

Deno.test("addresses: of several masters each must be readable", () => {
  for (const urls of ["spark://", "spark://h1:7077,", "spark://h1:1,h2"]) {
    assertThrows(
      () => parseMasterUrls(urls),
      InvalidAddressError,
      "Invalid master URL: spark://",
    );
  }
  assertThrows(
    () => parseMasterUrls("h1:7077"),
    InvalidAddressError,
    "Invalid master URL: h1:7077",
  );
});

Deno.test("addresses: two are the same when host and port are", () => {
  const address = { host: "h", port: 1 };
  assertEquals(sameAddress(address, { host: "h", port: 1 }), true);
  assertEquals(sameAddress(address, { host: "h", port: 2 }), false);
  assertEquals(sameAddress(address, { host: "g", port: 1 }), false);
});
