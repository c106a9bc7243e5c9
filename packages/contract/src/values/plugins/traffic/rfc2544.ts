import { Type } from 'typebox';
import { optional } from '../../../schema.ts';
import { subset, whole } from '../../protocols/field.ts';
import { optionalObject } from '../members/values.ts';

/** The tests of RFC 2544 in execution order. */
export const rfc2544Tests = ['throughput', 'latency', 'frameLoss', 'backToBack'] as const;

/** Ethernet frame sizes of RFC 2544, and one jumbo size. */
export const standardFrameSizes = [64, 128, 256, 512, 1024, 1280, 1518, 9000] as const;

const seconds = (description: string, value: number, maximum: number) =>
  Type.Number({ description, default: value, exclusiveMinimum: 0, maximum });

/** Parameters of RFC 2544 trials. */
export const rfc2544 = optionalObject(
  'Trials by RFC 2544 instead of a steady stream, from one source to one target with an agent. Rates given elsewhere are the highest that is tried; without any, frames are sent as fast as the line and the machine allow. The length of the run follows from the trials',
  {
    frameSizes: optional.array(Type.Integer({ minimum: 64, maximum: 16_000 }), {
      description:
        'Bytes of frames with their check sequence; 64, 128, 256, 512, 1024, 1280, 1518 and 9000 when left out. Those that the MTU does not allow are left out',
      minItems: 1,
      maxItems: 32,
      uniqueItems: true,
    }),
    tests: subset('Which tests are made', rfc2544Tests, rfc2544Tests),
    trialSec: seconds('Length of a trial', 60, 3600),
    confirmSec: Type.Number({
      description:
        'Length of the trial that confirms the throughput, 60 seconds by the standard: a shorter one lets buckets and queues pass more than the path carries. 0: none',
      default: 60,
      minimum: 0,
      maximum: 3600,
    }),
    settleSec: Type.Number({
      description: 'Wait after a trial for frames that are still on their way',
      default: 2,
      minimum: 0,
      maximum: 60,
    }),
    resolutionPct: Type.Number({
      description: 'The search ends when it is so close to the true rate',
      default: 1,
      minimum: 0.01,
      maximum: 50,
    }),
    acceptableLossPct: Type.Number({
      description: 'Share of frames that may be missing in a trial that counts as passed',
      default: 0,
      minimum: 0,
      maximum: 50,
    }),
    burstSec: seconds('Length of the longest burst of back-to-back frames', 2, 60),
    burstRepeats: whole('Searches for the longest burst, whose results are averaged', 3, [1, 100]),
  },
);
