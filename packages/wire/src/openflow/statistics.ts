import type { Flow, FlowTables } from './flow-table.ts';
import { fixedMatchBytes, type Match, matchLengths, readFixedMatch, readMatch } from './match.ts';
import { headerBytes, MessageWriter, openFlowVersion } from './message.ts';

const kind = {
  description: 0,
  flow: 1,
  aggregate: 2,
  table: 3,
  port: 4,
  tableFeatures: 12,
  portDescription: 13,
} as const;
const tenGigabit = 1 << 6;
const kbpsOfPort = 10_000_000;
const allTables = 0xff;
/** Statistics of flows are divided into messages of this size. */
const maxBodyBytes = 60_000;
const more = 1;

const property = {
  ...{ instructions: 0, nextTables: 2, writeActions: 4, applyActions: 6, match: 8, wildcards: 10 },
  ...{ writeSetField: 12, applySetField: 14 },
} as const;

/** What a switch says of itself. */
export interface SwitchFacts {
  readonly version: number;
  readonly datapathId: bigint;
  readonly ports: number;
  readonly tableCount: number;
  readonly maxFlows: number;
  readonly description: string;
  readonly tables: FlowTables;
  readonly nowMs: number;
  macOf(port: number): Uint8Array;
  countersOf(port: number): { readonly received: number; readonly sent: number };
}

/** Writes the description of a port as its version has it. */
export const writePort = (writer: MessageWriter, { version, macOf }: SwitchFacts, port: number): void => {
  const mac = macOf(port);
  const speeds = [tenGigabit, tenGigabit, tenGigabit, 0];
  const name = `port${port}`;
  if (version === 1) {
    writer.u16(port).bytes(mac).text(name, 16).u32(0).u32(0);
    for (const speed of speeds) writer.u32(speed);
    return;
  }
  const isLong = version >= 5;
  writer.u32(port);
  if (isLong) writer.u16(72).pad(2);
  else writer.pad(4);
  writer.bytes(mac).pad(2).text(name, 16).u32(0).u32(4);
  if (isLong) writer.u16(0).u16(32).pad(4);
  for (const speed of speeds) writer.u32(speed);
  writer.u32(kbpsOfPort).u32(kbpsOfPort);
};

/** The reply to a request for features. */
export const featuresBody = (facts: SwitchFacts): MessageWriter => {
  const { version, datapathId, tableCount, ports } = facts;
  // Statistics of flows, tables and ports.
  const writer = new MessageWriter(512).u64(datapathId).u32(0).u8(tableCount).pad(3).u32(7);
  // From version 1.3 on ports are asked for by themselves.
  if (version >= openFlowVersion['1.3']) return writer.u32(0);
  writer.u32(version === 1 ? 1 : 0);
  for (let port = 1; port <= ports; port++) writePort(writer, facts, port);
  return writer;
};

const startOf = (version: number, type: number, flags: number): MessageWriter => {
  const writer = new MessageWriter(1024).u16(type).u16(flags);
  return version === 1 ? writer : writer.pad(4);
};

const writeDuration = (writer: MessageWriter, { sinceMs }: Flow, nowMs: number): MessageWriter =>
  writer.u32(Math.floor((nowMs - sinceMs) / 1000)).u32(Math.floor((nowMs - sinceMs) % 1000) * 1_000_000);

/** Packets and bytes as extensible statistics of version 1.5: class, number, length. */
export const writeFlowCounters = (writer: MessageWriter, { packets, bytes }: Flow): MessageWriter =>
  writer.u16(0).u16(28).u32(0x80020808).u64(packets).u32(0x80020a08).u64(bytes).pad(4);

const writeFlow = (writer: MessageWriter, flow: Flow, { version, nowMs }: SwitchFacts): void => {
  const start = writer.length;
  const { table, priority, idleSec, hardSec, flags, importance, cookie, packets, bytes } = flow;
  if (version === 1) {
    writer.u16(0).u8(table).pad(1).bytes(flow.matchBytes);
    writeDuration(writer, flow, nowMs).u16(priority).u16(idleSec).u16(hardSec).pad(6);
    writer.u64(cookie).u64(packets).u64(bytes);
  } else if (version === 6) {
    writer.u16(0).pad(2).u8(table).pad(1).u16(priority).u16(idleSec).u16(hardSec).u16(flags).u16(importance);
    writer.u64(cookie).bytes(flow.matchBytes);
    writeFlowCounters(writer, flow);
  } else {
    writer.u16(0).u8(table).pad(1);
    writeDuration(writer, flow, nowMs).u16(priority).u16(idleSec).u16(hardSec);
    if (version < openFlowVersion['1.3']) writer.pad(6);
    else writer.u16(flags).u16(importance).pad(2);
    writer.u64(cookie).u64(packets).u64(bytes).bytes(flow.matchBytes);
  }
  writer.bytes(flow.actionBytes).patch16(start, writer.length - start);
};

/** Flows that a request means. */
const selected = (message: Uint8Array, { version, tables }: SwitchFacts): Flow[] => {
  const view = new DataView(message.buffer, message.byteOffset, message.byteLength);
  const at = headerBytes + (version === 1 ? 4 : 8);
  let match: Match | undefined;
  let [cookie, cookieMask] = [0n, 0n];
  let table = allTables;
  if (version === 1 && message.length >= at + fixedMatchBytes + 4) {
    match = readFixedMatch(view, at);
    table = view.getUint8(at + fixedMatchBytes);
  } else if (version > 1 && message.length >= at + 40) {
    table = view.getUint8(at);
    [cookie, cookieMask] = [view.getBigUint64(at + 16), view.getBigUint64(at + 24)];
    match = readMatch(view, at + 32, version)?.match;
  }
  if (match === undefined) return [];
  return tables.select({
    ...{ match, priority: 0, isStrict: false, cookie, cookieMask, table: table === allTables ? -1 : table },
  });
};

const flowReplies = (message: Uint8Array, facts: SwitchFacts): MessageWriter[] => {
  const replies = [startOf(facts.version, kind.flow, 0)];
  const flagsAt = headerBytes + 2;
  for (const flow of selected(message, facts)) {
    let writer = replies.at(-1) as MessageWriter;
    if (writer.length > maxBodyBytes) {
      writer.patch16(flagsAt, more);
      writer = startOf(facts.version, kind.flow, 0);
      replies.push(writer);
    }
    writeFlow(writer, flow, facts);
  }
  return replies;
};

const aggregateReply = (message: Uint8Array, facts: SwitchFacts): MessageWriter => {
  const flows = selected(message, facts);
  const sum = (of: (flow: Flow) => number) => flows.reduce((total, flow) => total + of(flow), 0);
  const [packets, bytes] = [sum((flow) => flow.packets), sum((flow) => flow.bytes)];
  const writer = startOf(facts.version, kind.aggregate, 0);
  if (facts.version < 6) return writer.u64(packets).u64(bytes).u32(flows.length).pad(4);
  return writer
    .u16(0)
    .u16(36)
    .u32(0x80020604)
    .u32(flows.length)
    .u32(0x80020808)
    .u64(packets)
    .u32(0x80020a08)
    .u64(bytes)
    .pad(4);
};

/** Instructions of a table, and its only action (output), as bits. */
const [instructionBits, actionBits] = [0b11_1010, 1];
/** Fields of matches as bits, in version 1.1 by numbers of its own. */
const fieldBits = { standard: 0x78ff, oxm: matchLengths.reduce((bits, [field]) => bits | (1n << BigInt(field)), 0n) };

/** What versions 1.1 and 1.2 say of a table in its statistics. */
const writeTableAbilities = (writer: MessageWriter, version: number, table: number): void => {
  writer.pad(4).text(`table${table}`, 32);
  if (version === openFlowVersion['1.1'])
    writer.u32(fieldBits.standard).u32(fieldBits.standard).u32(instructionBits).u32(actionBits).u32(actionBits).u32(0);
  else writer.u64(fieldBits.oxm).u64(fieldBits.oxm).u32(actionBits).u32(actionBits).pad(32).u32(instructionBits).u32(0);
};

const tableReply = ({ version, tableCount, maxFlows, tables }: SwitchFacts): MessageWriter => {
  const writer = startOf(version, kind.table, 0);
  for (let table = 0; table < tableCount; table++) {
    writer.u8(table).pad(3);
    const isOld = version === openFlowVersion['1.1'] || version === openFlowVersion['1.2'];
    if (isOld) writeTableAbilities(writer, version, table);
    if (isOld) writer.u32(maxFlows);
    if (version === 1) writer.text(`table${table}`, 32).u32(0x3fffff).u32(maxFlows);
    writer.u32(tables.sizeOf(table)).u64(0).u64(0);
  }
  return writer;
};

/** What tables can do, as properties: number and values. */
const tableProperties = (table: number, tableCount: number): [type: number, values: number[]][] => {
  const ids = (numbers: readonly number[]) => numbers.flatMap((number) => [0, number, 0, 4]);
  const fields = matchLengths.flatMap(([field, length]) => [0x80, 0, field << 1, length]);
  const next = Array.from({ length: tableCount - table - 1 }, (_, i) => table + 1 + i);
  const output = ids([0]);
  return [
    [property.instructions, ids([1, 3, 4, 5])],
    [property.nextTables, next],
    [property.writeActions, output],
    [property.applyActions, output],
    [property.match, fields],
    [property.wildcards, fields],
    [property.writeSetField, []],
    [property.applySetField, []],
  ];
};

const tableFeatures = ({ version, tableCount, maxFlows }: SwitchFacts): MessageWriter => {
  const writer = startOf(version, kind.tableFeatures, 0);
  for (let table = 0; table < tableCount; table++) {
    const start = writer.length;
    writer.u16(0).u8(table).pad(5).text(`table${table}`, 32).u64(0).u64(0).u32(0).u32(maxFlows);
    for (const [type, values] of tableProperties(table, tableCount)) {
      const length = 4 + values.length;
      writer
        .u16(type)
        .u16(length)
        .bytes(Uint8Array.from(values))
        .pad(-length & 7);
    }
    writer.patch16(start, writer.length - start);
  }
  return writer;
};

const portReply = (message: Uint8Array, facts: SwitchFacts): MessageWriter => {
  const { version, ports, countersOf } = facts;
  const view = new DataView(message.buffer, message.byteOffset, message.byteLength);
  const at = headerBytes + (version === 1 ? 4 : 8);
  const wanted = version === 1 ? view.getUint16(at) : view.getUint32(at);
  const isAll = wanted === (version === 1 ? 0xffff : 0xffffffff);
  const writer = startOf(version, kind.port, 0);
  for (let port = 1; port <= ports; port++) {
    if (!isAll && port !== wanted) continue;
    const { received, sent } = countersOf(port);
    if (version === 1) writer.u16(port).pad(6);
    else if (version <= 4) writer.u32(port).pad(4);
    else writer.u16(80).pad(2).u32(port).u32(0).u32(0);
    writer
      .u64(received)
      .u64(sent)
      .pad(64 - (version >= 5 ? 16 : 0));
    if (version <= 4) writer.pad(16);
    if (version === 4) writer.u32(0).u32(0);
  }
  return writer;
};

/** The replies to a request for statistics; undefined: the switch has none of this kind. */
export const statisticsReplies = (message: Uint8Array, facts: SwitchFacts): MessageWriter[] | undefined => {
  const { version, ports, description } = facts;
  const view = new DataView(message.buffer, message.byteOffset, message.byteLength);
  const at = headerBytes + (version === 1 ? 4 : 8);
  if (message.length < at) return undefined;
  const type = view.getUint16(headerBytes);
  if (type === kind.description) {
    const texts = [
      ['Rushhour', 256],
      ['emulated switch', 256],
      ['Rushhour', 256],
      ['none', 32],
      [description, 256],
    ] as const;
    const writer = startOf(version, type, 0);
    for (const [text, size] of texts) writer.text(text, size);
    return [writer];
  }
  if (type === kind.flow) return flowReplies(message, facts);
  if (type === kind.aggregate) return [aggregateReply(message, facts)];
  if (type === kind.table) return [tableReply(facts)];
  if (type === kind.tableFeatures && version >= openFlowVersion['1.3']) return [tableFeatures(facts)];
  if (type === kind.port && message.length >= at + 4) return [portReply(message, facts)];
  if (type !== kind.portDescription || version < openFlowVersion['1.3']) return undefined;
  const writer = startOf(version, type, 0);
  for (let port = 1; port <= ports; port++) writePort(writer, facts, port);
  return [writer];
};
