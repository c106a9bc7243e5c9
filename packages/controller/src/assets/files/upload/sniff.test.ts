import { execFileSync } from 'node:child_process';
import { gzipSync } from 'node:zlib';
import { CaptureWriter } from '@rushhour/pcap';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { contentOf } from '../testing/content.ts';
import { canShowInline, sniff } from './sniff.ts';

const capture = (format: 'pcap' | 'pcap-ns' | 'pcapng') => new CaptureWriter({ format, linkType: 1 }).take();
const swapped = (bytes: Uint8Array) => Buffer.from(bytes).subarray(0, 4).swap32().toString('hex');
const bigEndianPcap = Buffer.from(`${swapped(capture('pcap'))}00020004${'00'.repeat(12)}00000001`, 'hex');
const tar = execFileSync('tar', ['-C', '/', '-cf', '-', 'etc/hostname']);
const oldTar = execFileSync('tar', ['-C', '/', '--format=v7', '-cf', '-', 'etc/hostname']);
const har = JSON.stringify({ log: { version: '1.2', creator: {}, pages: [], entries: [] } });
const lateHar = JSON.stringify({ _tool: 'x'.repeat(300_000), log: { entries: [{}] } });
const utf16 = (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le');

test.each([
  ['a pcap', capture('pcap'), 'pcap', 'application/vnd.tcpdump.pcap'],
  ['a pcap with nanoseconds', capture('pcap-ns'), 'pcap', 'application/vnd.tcpdump.pcap'],
  ['a pcap of the other byte order', bigEndianPcap, 'pcap', 'application/vnd.tcpdump.pcap'],
  ['a pcapng', capture('pcapng'), 'pcap', 'application/x-pcapng'],
  ['only the magic of a pcap', capture('pcap').subarray(0, 4), 'binary', 'application/octet-stream'],
  ['a HAR', har, 'har', 'application/har+json'],
  ['a HAR with a byte order mark', `\ufeff${har}`, 'har', 'application/har+json'],
  ['a HAR whose entries come late', lateHar, 'har', 'application/har+json'],
  ['a HAR that is cut', har.slice(0, -2), 'har', 'application/har+json'],
  ['JSON that speaks of log and entries', '{"entries":[],"log":{"x":{"entries":[]}}}', 'json', 'application/json'],
  ['JSON', '[1, {"a": null}]', 'json', 'application/json'],
  ['what only begins like JSON', '[section]\nkey=value\n', 'text', 'text/plain'],
  ['braces that are not JSON', '{ not json }', 'text', 'text/plain'],
  ['a CSV', 'a,b\n1,2\n', 'csv', 'text/csv'],
  ['a CSV without a last line end', 'a;b;c\r\n1;2;3', 'csv', 'text/csv'],
  ['a CSV with quoted line ends', 'a,b\n"x\ny, z",2\n"q ""r""",3\n', 'csv', 'text/csv'],
  ['a TSV', 'a\tb\n1\t2\n', 'csv', 'text/tab-separated-values'],
  ['a ragged table', 'a,b\n1,2,3\n', 'text', 'text/plain'],
  ['UTF-16 CSV', utf16('a,b\n1,2\n'), 'csv', 'text/csv'],
  ['prose', 'It was the best of times,\nit was the worst of times\n', 'text', 'text/plain'],
  ['Latin-1 text', Buffer.from('caf\xe9 au lait', 'latin1'), 'text', 'text/plain'],
  ['HTML', '<!DOCTYPE html><p>', 'text', 'text/html'],
  ['XML', '<?xml version="1.0"?><a/>', 'text', 'text/xml'],
  ['a zip', Buffer.from('504b0304140000', 'hex'), 'archive', 'application/zip'],
  ['an empty zip', Buffer.from(`504b0506${'00'.repeat(18)}`, 'hex'), 'archive', 'application/zip'],
  ['a gzip', gzipSync('x'), 'archive', 'application/gzip'],
  ['a tar', tar, 'archive', 'application/x-tar'],
  ['the oldest tar', oldTar, 'archive', 'application/x-tar'],
  ['a PDF', '%PDF-1.7\n', 'binary', 'application/pdf'],
  ['a PNG', Buffer.from('89504e470d0a1a0a', 'hex'), 'binary', 'image/png'],
  ['an ELF', Buffer.from('7f454c46020101', 'hex'), 'binary', 'application/x-elf'],
  ['text with a NUL in it', 'a\0b', 'binary', 'application/octet-stream'],
  ['nothing', '', 'binary', 'application/octet-stream'],
])('%s is known by its content', async (_what, bytes, kind, mime) => {
  expect(await sniff(contentOf(bytes))).toEqual({ kind, mime });
});

test('a letter halved where the head ends is still UTF-8', async () => {
  const text = `${'x'.repeat(64 * 1024 - 1)}é and more`;
  expect(await sniff(contentOf(text))).toEqual({ kind: 'text', mime: 'text/plain' });
});

test('any bytes get an answer after a bounded look', async () => {
  const starts = ['', '{', '[', '{"log":', 'MZ', '\n\r\r\n', '"'].map((start) => Buffer.from(start));
  const bytes = fc
    .tuple(fc.constantFrom(...starts), fc.uint8Array({ maxLength: 2000 }))
    .map((parts) => Buffer.concat(parts));
  await fc.assert(
    fc.asyncProperty(bytes, async (given) => void expect((await sniff(contentOf(given, 7))).mime).toMatch(/\//)),
  );
  const deep = contentOf('['.repeat(20_000_000));
  expect((await sniff(deep)).kind).toBe('text');
  expect(deep.readBytes).toBeLessThan(200_000);
});

test('nothing is shown in place that a browser could run', () => {
  expect(['text/plain', 'application/json', 'text/csv'].map(canShowInline)).toEqual([true, true, true]);
  expect(['text/html', 'text/xml', 'application/pdf', 'image/png'].some(canShowInline)).toBe(false);
});
