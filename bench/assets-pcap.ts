/**
 * Analysis of a 100 MB capture against tshark's list of TCP conversations. Start-up is excluded on both sides: our process
 * is already running, as the controller is, and tshark's time for an empty capture is subtracted.
 * The best of three interleaved rounds counts for each.
 */
import { type ChildProcess, execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { analyzeCapture, CaptureWriter, ethernetFrame, tcpPacket, udpPacket } from '../packages/pcap/src/index.ts';

const CAPTURE_BYTES = 100_000_000;
const ROUNDS = 3;
const GOAL = 3;
const SERVE = '--serve';
const SYN = 0x02;
const ACK = 0x10;
const PUSH_ACK = 0x18;
const FIN_ACK = 0x11;
const NOTHING = new Uint8Array(0);
const run = promisify(execFile);

interface Ends {
  readonly client: string;
  readonly server: string;
  readonly clientPort: number;
  readonly serverPort: number;
}

/** One web exchange: handshake, request, an answer of several segments with acknowledgements, close. */
function* webSession(ends: Ends, number: number): Generator<Uint8Array> {
  const there = { src: ends.client, dst: ends.server, srcPort: ends.clientPort, dstPort: ends.serverPort };
  const back = { src: ends.server, dst: ends.client, srcPort: ends.serverPort, dstPort: ends.clientPort };
  let [seq, ack] = [number * 1000, number * 3000];
  yield tcpPacket(NOTHING, { ...there, seq, flags: SYN });
  yield tcpPacket(NOTHING, { ...back, seq: ack, ack: ++seq, flags: SYN | ACK });
  yield tcpPacket(NOTHING, { ...there, seq, ack: ++ack, flags: ACK });
  const request = new TextEncoder().encode(`GET /item/${number} HTTP/1.1\r\nHost: shop${number % 50}.test\r\n\r\n`);
  yield tcpPacket(request, { ...there, seq, ack, flags: PUSH_ACK });
  seq += request.length;
  const start = new TextEncoder().encode('HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n');
  for (let segment = 0; segment < 3 + (number % 12); segment++) {
    const body = new Uint8Array(segment % 4 === 3 ? 300 : 1400).fill(97 + (segment % 26));
    if (segment === 0) body.set(start);
    yield tcpPacket(body, { ...back, seq: ack, ack: seq, flags: PUSH_ACK });
    ack += body.length;
    if (segment % 2 === 1) yield tcpPacket(NOTHING, { ...there, seq, ack, flags: ACK });
  }
  yield tcpPacket(NOTHING, { ...there, seq, ack, flags: FIN_ACK });
  yield tcpPacket(NOTHING, { ...back, seq: ack, ack: seq + 1, flags: FIN_ACK });
  yield tcpPacket(NOTHING, { ...there, seq: seq + 1, ack: ack + 1, flags: ACK });
}

function* dnsExchange(client: string, server: string, number: number): Generator<Uint8Array> {
  const name = [3, 119, 119, 119, 4, 116, 101, 115, 116, 0];
  const header = (flags: number, answers: number) => [number >>> 8, number, flags, 0x80, 0, 1, 0, answers, 0, 0, 0, 0];
  const ends = { src: client, dst: server, srcPort: 20_000 + (number % 40_000), dstPort: 53 };
  yield udpPacket(Uint8Array.from([...header(1, 0), ...name, 0, 1, 0, 1]), ends);
  const answer = [0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 1];
  const back = { src: server, dst: client, srcPort: 53, dstPort: ends.srcPort };
  yield udpPacket(Uint8Array.from([...header(0x81, 1), ...name, 0, 1, 0, 1, ...answer]), back);
}

/** Four out of five sessions IPv4, the fifth IPv6; a DNS exchange before every second one; sixteen at a time. */
function* traffic(): Generator<Uint8Array> {
  for (let number = 0; ; number += 16) {
    const open = Array.from({ length: 16 }, (_, index) => conversation(number + index));
    while (open.length > 0) {
      for (const [index, session] of [...open.entries()].reverse()) {
        const next = session.next();
        if (next.done === true) open.splice(index, 1);
        else yield next.value;
      }
    }
  }
}

function* conversation(number: number): Generator<Uint8Array> {
  const isV6 = number % 5 === 4;
  const client = isV6 ? `2001:db8:1::${(number % 60_000).toString(16)}` : `10.${(number >>> 8) & 63}.${number & 255}.9`;
  const server = isV6 ? `2001:db8:2::${number % 20}` : `192.0.2.${1 + (number % 20)}`;
  if (number % 2 === 0) yield* dnsExchange(client, isV6 ? '2001:db8:2::53' : '192.0.2.53', number);
  yield* webSession({ client, server, clientPort: 20_000 + (number % 40_000), serverPort: 80 }, number);
}

async function makeCapture(file: string): Promise<void> {
  const writer = new CaptureWriter({ format: 'pcap', linkType: 1 });
  const output = createWriteStream(file);
  let [written, microseconds] = [0, 0];
  for (const packet of traffic()) {
    microseconds += 11;
    const seconds = 1_700_000_000 + Math.floor(microseconds / 1e6);
    writer.add({ seconds, nanoseconds: (microseconds % 1e6) * 1000, bytes: ethernetFrame(packet) });
    if (writer.size < 1_000_000) continue;
    written += writer.size;
    if (!output.write(writer.take())) await once(output, 'drain');
    if (written >= CAPTURE_BYTES) break;
  }
  await new Promise((resolve) => output.end(writer.take(), () => resolve(undefined)));
}

/** The child process: returns the number of TCP sessions for every file it receives. */
function serveAnalyses(): void {
  process.on('message', async (file: string) => {
    const analysis = await analyzeCapture(createReadStream(file, { highWaterMark: 1_048_576 }));
    const { sessions } = analysis.info(1);
    process.send?.(sessions.filter((session) => session.protocol === 'tcp').length);
  });
  process.send?.('ready');
}

async function timed<Result>(work: () => Promise<Result>): Promise<{ ms: number; result: Result }> {
  const startedAt = performance.now();
  const result = await work();
  return { ms: performance.now() - startedAt, result };
}

async function tsharkSessions(file: string): Promise<number> {
  const args = ['-n', '-q', '-r', file, '-z', 'conv,tcp'];
  const { stdout } = await run('tshark', args, { maxBuffer: 256 * 1024 * 1024 });
  return stdout.split('\n').filter((line) => line.includes('<->')).length;
}

async function ourSessions(child: ChildProcess, file: string): Promise<number> {
  child.send(file);
  const [count] = await once(child, 'message');
  return Number(count);
}

/** Best times of tshark, of its start alone, and of ours; both must find the same sessions. */
async function bestTimes(child: ChildProcess, file: string, empty: string): Promise<[number, number, number]> {
  const best: [number, number, number] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let round = 0; round < ROUNDS; round++) {
    const theirs = await timed(() => tsharkSessions(file));
    const start = await timed(() => tsharkSessions(empty));
    const ours = await timed(() => ourSessions(child, file));
    if (theirs.result === 0 || theirs.result !== ours.result) {
      throw new Error(`tshark sees ${theirs.result} TCP sessions, the analysis sees ${ours.result}`);
    }
    for (const [index, { ms }] of [theirs, start, ours].entries()) best[index] = Math.min(best[index] as number, ms);
  }
  return best;
}

export async function measurePcap(): Promise<{ name: string; value: number; goal: number }[]> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-pcap-'));
  const [file, empty] = [join(folder, 'capture.pcap'), join(folder, 'empty.pcap')];
  const child = fork(import.meta.filename, [SERVE]);
  try {
    await once(child, 'message');
    await makeCapture(file);
    await writeFile(empty, new CaptureWriter({ format: 'pcap', linkType: 1 }).take());
    const [theirs, start, ours] = await bestTimes(child, file, empty);
    return [{ name: 'pcap-analysis-vs-tshark', value: (theirs - start) / ours, goal: GOAL }];
  } finally {
    child.kill();
    await rm(folder, { recursive: true, force: true });
  }
}

if (process.argv[1] === import.meta.filename) {
  if (process.argv[2] === SERVE) {
    serveAnalyses();
  } else {
    const rows = await measurePcap();
    for (const { name, value, goal } of rows) console.log(`ratio ${name} ${value.toFixed(2)} goal ${goal}`);
    if (rows.some(({ value, goal }) => value < goal)) process.exitCode = 1;
  }
}
