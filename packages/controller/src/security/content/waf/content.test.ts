import { describe, expect, it } from 'vitest';
import { benignTexts } from './benign.ts';
import { siteRequest, siteRequestCount } from './benign-sites.ts';
import { encoders } from './encoders.ts';
import { familyPayloads } from './payload-families.ts';
import { payloadSets } from './payloads.ts';
import { placeholderRequests, requestOf } from './placeholders.ts';
import { referenceOf, weaknessOf } from './weaknesses.ts';

const core = Object.values(payloadSets).flatMap((set) => set.payloads);
const made = Object.keys(payloadSets).flatMap(familyPayloads);
const payloads = [...new Set([...core, ...made])];
const texts = [...payloads, ...benignTexts.map(({ text }) => text)];

/** Names in addresses and mail, in whatever text. */
const hostsIn = (text: string) =>
  [...text.matchAll(/(?:\/\/|@)([a-z0-9-]+(?:\.[a-z0-9-]+)+)/gi)].map(([, host = '']) => host);
const numbersIn = (text: string) => [...text.matchAll(/\b\d{1,3}(?:\.\d{1,3}){3}\b/g)].map(([address]) => address);

describe('content of web application firewall tests', () => {
  it('names only hosts and addresses that are reserved for tests and documents', () => {
    // Loopback, and link-local addresses as metadata services of clouds have them, are never routed.
    const reserved = /(\.|^)(test|example|invalid|localhost)$|^(?:127|0177|169\.254)\.[\d.]+$/;
    // Names of namespaces and of tools as they write themselves: nobody resolves them.
    const known = new Set(['www.w3.org', 'schemas.xmlsoap.org', 'sqlmap.org', 'ognl.OgnlContext']);
    const foreign = texts.flatMap(hostsIn).filter((host) => !reserved.test(host) && !known.has(host));
    expect(foreign).toEqual([]);
    const addresses = texts
      .flatMap(numbersIn)
      .filter((address) => !/^(192\.0\.2|198\.51\.100|203\.0\.113|127|169\.254)\./.test(address));
    expect(addresses).toEqual([]);
  });

  it('has several hundred harmless texts, each once', () => {
    expect(benignTexts.length).toBeGreaterThan(350);
    expect(new Set(benignTexts.map(({ text }) => text)).size).toBe(benignTexts.length);
    expect(new Set(benignTexts.map(({ kind }) => kind)).size).toBeGreaterThan(8);
  });

  it('is short', () => {
    expect(Math.max(...payloads.map(({ length }) => length))).toBeLessThan(200);
  });

  it('gives in every placeholder and writing a request line without blanks and headers without line breaks', () => {
    const options = { basePath: '/app', headers: [], version: '1.1' as const };
    let count = 0;
    const bad: string[] = [];
    for (const encode of Object.values(encoders)) {
      for (const text of texts) {
        const encoded = encode(text);
        for (const placeholder of Object.keys(placeholderRequests)) {
          const request = requestOf(placeholder, encoded, options);
          const isPathValid = request !== undefined && /^\/app[^\s]*$/.test(request.path);
          const areHeadersValid = request?.headers.every(({ value }) => !/[\r\n\0]/.test(value));
          if (!isPathValid || !areHeadersValid) bad.push(`${placeholder} ${text}`);
          count += 1;
        }
      }
    }
    expect(bad).toEqual([]);
    expect(count).toBeGreaterThan(10_000);
  });

  it('has more than a thousand payloads, each once', () => {
    expect(payloads.length).toBeGreaterThan(1000);
  });

  it('has payloads for every category of both lists of the OWASP, each with its CWE and a reference', () => {
    const counts = new Map<string, number>();
    for (const [module, { payloads }] of Object.entries(payloadSets)) {
      if (module === 'custom') continue;
      const { cweIDs, owasp } = weaknessOf(module) ?? { cweIDs: [], owasp: [] };
      for (const name of [...cweIDs, ...owasp])
        expect(referenceOf(name)).toMatch(/^https:\/\/(?:cwe\.mitre|owasp)\.org\//);
      expect([module, cweIDs.length > 0, payloads.length > 0]).toEqual([module, true, true]);
      for (const name of owasp) counts.set(name, (counts.get(name) ?? 0) + payloads.length);
    }
    const numbers = Array.from({ length: 10 }, (_, n) => n + 1);
    const web = numbers.map((n) => `A${String(n).padStart(2, '0')}:2021`);
    const categories = [...web, ...numbers.map((n) => `API${n}:2023`)];
    expect([...counts.keys()].toSorted()).toEqual(categories.toSorted());
    expect(categories.filter((name) => (counts.get(name) ?? 0) < 5)).toEqual([]);
  });

  it('has more than five thousand requests of sites in several languages, each once', () => {
    const requests = Array.from({ length: siteRequestCount }, (_, n) => siteRequest(n));
    expect(siteRequestCount).toBeGreaterThanOrEqual(5000);
    expect(new Set(requests.map((one) => JSON.stringify(one))).size).toBe(siteRequestCount);
    expect(new Set(requests.map(({ kind }) => kind)).size).toBe(10);
    for (const { request } of requests.slice(0, 1000)) {
      expect(request.path).toMatch(/^\/[\x21-\x7e]*$/);
      expect(request.headers.every(({ value }) => /^[\x20-\x7e]*$/.test(value))).toBe(true);
    }
  });
});
