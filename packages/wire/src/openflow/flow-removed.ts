import type { Flow } from './flow-table.ts';
import { MessageWriter, openFlowVersion } from './message.ts';
import { writeFlowCounters } from './statistics.ts';

/** The body of the message that a flow is gone. */
export const flowRemovedBody = (flow: Flow, reason: number, { version, nowMs }: { version: number; nowMs: number }) => {
  const { cookie, priority, table, idleSec, hardSec, packets, bytes, matchBytes } = flow;
  const seconds = Math.floor((nowMs - flow.sinceMs) / 1000);
  const writer = new MessageWriter(128);
  if (version === 1) {
    writer.bytes(matchBytes).u64(cookie).u16(priority).u8(reason).pad(1).u32(seconds).u32(0);
    return writer.u16(idleSec).pad(2).u64(packets).u64(bytes);
  }
  if (version === 6) {
    writer.u8(table).u8(reason).u16(priority).u16(idleSec).u16(hardSec).u64(cookie).bytes(matchBytes);
    return writeFlowCounters(writer, flow);
  }
  writer.u64(cookie).u16(priority).u8(reason).u8(table).u32(seconds).u32(0).u16(idleSec);
  writer.u16(version === openFlowVersion['1.1'] ? 0 : hardSec);
  return writer.u64(packets).u64(bytes).bytes(matchBytes);
};
