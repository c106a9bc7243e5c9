import type { RunReport, Summary, ToController } from '@rushhour/protocol';
import { describe, expect, it } from 'vitest';
import { RunRecord } from './run-record.ts';

const of = { runId: 3, epoch: 1 };
const summaryOf = (seq: number, filler = ''): Summary => ({
  seq,
  at: seq * 1000,
  spanMs: 1000,
  phase: 'steady',
  series: [{ target: filler, counters: {}, gauges: {}, histograms: {} }],
});
const outcome = { status: 'finished' as const, error: '', notes: [], saturatedSeconds: {} };

/** A way to the controller that takes `room` messages. */
const uplinkWith = (room = Number.POSITIVE_INFINITY) => {
  const sent: RunReport[] = [];
  return {
    sent,
    get hasRoom() {
      return sent.length < room;
    },
    send(message: ToController) {
      if (sent.length >= room) return false;
      sent.push(message as RunReport);
      return true;
    },
  };
};
const seqsIn = (sent: readonly RunReport[]) =>
  sent.flatMap((report) => (report.type === 'summaries' ? report.summaries.map(({ seq }) => seq) : []));

describe('record of a run', () => {
  it('reports everything once in a session, and what was not acknowledged again in the next', () => {
    const record = new RunRecord(of, 1);
    const uplink = uplinkWith();
    for (const seq of [1, 2, 3]) {
      record.add(0, summaryOf(seq));
      record.pump(uplink);
    }
    record.pump(uplink);
    expect(seqsIn(uplink.sent)).toEqual([1, 2, 3]);
    record.acknowledge(0, 1);
    record.rewind();
    const next = uplinkWith();
    record.pump(next);
    expect(seqsIn(next.sent)).toEqual([2, 3]);
  });

  it('reports the end of a job only after its last summary, and of the run after all jobs', () => {
    const record = new RunRecord(of, 2);
    record.add(0, summaryOf(1));
    record.endOrder(0, outcome);
    record.endOrder(1, outcome);
    record.state = 'ended';
    const narrow = uplinkWith(0);
    record.pump(narrow);
    expect(narrow.sent).toEqual([]);
    const uplink = uplinkWith();
    record.pump(uplink);
    record.pump(uplink);
    expect(uplink.sent.map(({ type }) => type)).toEqual(['summaries', 'orderEnded', 'orderEnded', 'ended']);
    expect(record.held.orders.map(({ lastSeq }) => lastSeq)).toEqual([1, 0]);
  });

  it('is the same after a round trip to disk', () => {
    const record = new RunRecord(of, 1);
    for (const seq of [1, 2, 3]) record.add(0, summaryOf(seq));
    record.acknowledge(0, 2);
    record.endOrder(0, outcome);
    record.state = 'ended';
    record.endedByDeadMan = true;
    const copy = RunRecord.from(JSON.parse(JSON.stringify(record.saved)));
    expect(copy.held).toEqual(record.held);
    const uplink = uplinkWith();
    copy.pump(uplink);
    expect(seqsIn(uplink.sent)).toEqual([3]);
    expect(uplink.sent.at(-1)).toEqual({ type: 'ended', ...of, endedByDeadMan: true });
  });

  it('sends no message of more than 1 MiB and keeps 15 minutes', () => {
    const record = new RunRecord(of, 1);
    for (let seq = 1; seq <= 20; seq++) record.add(0, summaryOf(seq, 'x'.repeat(200_000)));
    const uplink = uplinkWith();
    record.pump(uplink);
    expect(uplink.sent.length).toBe(4);
    expect(Math.max(...uplink.sent.map((message) => JSON.stringify(message).length))).toBeLessThan(1_100_000);
    const long = new RunRecord(of, 1);
    const taken = Array.from({ length: 901 }, (_, index) => long.add(0, summaryOf(index + 1)));
    expect(taken.indexOf(false)).toBe(900);
    const later = uplinkWith();
    long.pump(later);
    expect(seqsIn(later.sent)).toEqual(Array.from({ length: 900 }, (_, index) => index + 2));
  });
});
