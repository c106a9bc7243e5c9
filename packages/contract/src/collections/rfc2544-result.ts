import { type Static, Type } from 'typebox';
import { NullableNumber } from '../scalars.ts';
import { Component, OneOf } from '../schema.ts';
import { rfc2544Tests } from '../values/plugins/rfc2544.ts';

const fps = (description: string) => Type.Number({ description: `${description}, frames a second` });
const microseconds = Type.Number({ description: 'Microseconds' });
const sentAndReceived = {
  offeredFps: fps('What was sent'),
  sent: Type.Integer(),
  received: Type.Integer(),
  lossPct: Type.Number({ description: 'Percent that did not arrive' }),
};

/** What RFC 2544 found for one size of frames. Tests that were not made, or not yet, are missing. */
export const Rfc2544Result = Component('Rfc2544Result', {
  configurationIndex: Type.Integer(),
  frameSize: Type.Integer({ description: 'Bytes with the check sequence' }),
  throughput: Type.Optional(
    Type.Object({
      fps: fps('The highest rate found without more loss than accepted; 0 when there was none'),
      bps: Type.Number({ description: 'Bits a second of frames with their check sequence' }),
      linePct: NullableNumber,
      trials: Type.Integer(),
      limit: OneOf(['path', 'line', 'ordered', 'generator', 'receiver'], {
        description:
          'What kept it from being higher. Unless it is `path`, the path may carry more: `line` and `ordered` were the highest that was to be tried, `generator` and `receiver` are the agents themselves',
      }),
    }),
  ),
  latency: Type.Optional(
    Type.Object({
      offeredFps: fps('At the throughput, or at the ordered rate'),
      frames: Type.Integer(),
      minUs: microseconds,
      avgUs: microseconds,
      p50Us: microseconds,
      p99Us: microseconds,
      maxUs: microseconds,
    }),
  ),
  frameLoss: Type.Array(
    Type.Object({ ratePct: Type.Number({ description: 'Percent of the highest rate offered' }), ...sentAndReceived }),
  ),
  backToBack: Type.Optional(
    Type.Object({
      frames: Type.Number({ description: 'Longest burst without loss, averaged over the repeats' }),
      burstFps: fps('Rate within bursts'),
      repeats: Type.Integer(),
      isLongest: Type.Boolean({ description: 'Even the longest burst that was to be tried came through' }),
    }),
  ),
  trials: Type.Array(
    Type.Object({
      test: OneOf(rfc2544Tests),
      number: Type.Integer({ description: 'Counted over the whole run' }),
      ...sentAndReceived,
      drops: Type.Integer({ description: 'Frames that arrived and that the receiving agent was too slow for' }),
      passed: Type.Boolean(),
    }),
  ),
});
export type Rfc2544Result = Static<typeof Rfc2544Result>;
