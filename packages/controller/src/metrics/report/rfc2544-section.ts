import type { Rfc2544Result } from '@rushhour/contract';
import { cell, table } from './html-parts.ts';
import { numberText } from './number-text.ts';

const limits: Readonly<Record<NonNullable<Rfc2544Result['throughput']>['limit'], string>> = {
  path: 'the path',
  line: 'the line',
  ordered: 'the ordered rate; the path may carry more',
  generator: 'the sender; the path may carry more',
  receiver: 'the receiver; the path may carry more',
};

const numbers = (...texts: string[]) => texts.map((text) => cell(text, 'n')).join('');
const perSecond = (value: number) => Math.round(value).toLocaleString('en');

const throughputOf = (rows: readonly Rfc2544Result[]) =>
  rows.flatMap(({ frameSize, throughput }) => {
    if (throughput === undefined) return [];
    const { fps, bps, linePct, trials, limit } = throughput;
    const found = numbers(String(frameSize), perSecond(fps), (bps / 1e6).toFixed(3), numberText(linePct, '%'));
    return [`<tr>${found}${numbers(String(trials))}${cell(limits[limit])}</tr>`];
  });

const latencyOf = (rows: readonly Rfc2544Result[]) =>
  rows.flatMap(({ frameSize, latency }) => {
    if (latency === undefined) return [];
    const times = [latency.minUs, latency.avgUs, latency.p50Us, latency.p99Us, latency.maxUs];
    const texts = times.map((time) => numberText(time, 'us'));
    return [`<tr>${numbers(String(frameSize), perSecond(latency.offeredFps), ...texts)}</tr>`];
  });

const lossOf = (rows: readonly Rfc2544Result[]) =>
  rows.flatMap(({ frameSize, frameLoss }) =>
    frameLoss.map(({ ratePct, offeredFps, sent, received, lossPct }) => {
      const counts = [sent, received].map((count) => count.toLocaleString('en'));
      return `<tr>${numbers(String(frameSize), `${ratePct} %`, perSecond(offeredFps), ...counts, `${lossPct.toFixed(3)} %`)}</tr>`;
    }),
  );

const burstsOf = (rows: readonly Rfc2544Result[]) =>
  rows.flatMap(({ frameSize, backToBack }) => {
    if (backToBack === undefined) return [];
    const { frames, burstFps, repeats, isLongest } = backToBack;
    const burst = `${isLongest ? 'at least ' : ''}${perSecond(frames)}`;
    return [`<tr>${numbers(String(frameSize), burst, perSecond(burstFps), String(repeats))}</tr>`];
  });

/** The tables that RFC 2544 asks for; a test that was not made has none. */
export const rfc2544Section = (rows: readonly Rfc2544Result[]): string => {
  const parts = [
    ['Throughput', ['Frame size', 'Frames/s', 'Mbit/s', 'Of the line', 'Trials', 'Limited by'], throughputOf(rows)],
    ['Latency', ['Frame size', 'Frames/s', 'Min', 'Average', 'p50', 'p99', 'Max'], latencyOf(rows)],
    ['Frame loss', ['Frame size', 'Rate', 'Frames/s', 'Sent', 'Received', 'Lost'], lossOf(rows)],
    ['Back-to-back frames', ['Frame size', 'Longest burst', 'Frames/s', 'Repeats'], burstsOf(rows)],
  ] as const;
  const shown = parts.filter(([, , lines]) => lines.length > 0);
  if (shown.length === 0) return '<p>No trial was made.</p>';
  return shown.map(([title, head, lines]) => `<h3>${title}</h3>${table(head, lines)}`).join('');
};
