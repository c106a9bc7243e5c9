import { Type } from 'typebox';
import { addressPattern, choice, flag, section, subset, whole } from '../../protocols/field.ts';
import { fileId } from '../members/reference.ts';
import { listOf, milliseconds, optionalText } from '../members/values.ts';

const statuses = (description: string, value: readonly number[]) =>
  Type.Array(Type.Integer({ minimum: 100, maximum: 599 }), { description, default: [...value], maxItems: 100 });

/** When an attempt counts as blocked by the device under test. */
export const blockPolicy = section('What counts as stopped', {
  blockStatus: statuses('Statuses of a block page', [403, 406]),
  passStatus: statuses('Statuses of an answer that got through', [200, 204, 301, 302, 404]),
  blockRegex: optionalText('Text of a block page'),
  passRegex: optionalText('Text of an answer that got through'),
  resetIsBlock: flag('A reset is a block', true),
  timeoutIsBlock: flag('Silence is a block, once a harmless exchange works right after', true),
  partialIsBlock: flag('A part that arrives is a block', true),
  modifiedIs: choice('What changed content counts as', ['blocked', 'passed', 'own']),
  control: section('Harmless exchanges that prove the path', {
    everyAttempts: whole('After so many attempts', 10, [1, 1_000_000]),
    afterSilentDrop: flag('After every silence', true),
    retries: whole('Times it is tried again', 2, [0, 100]),
    timeoutMs: whole('Longest wait', 3000, [1, 3_600_000]),
    recoverySeconds: whole('Longest wait for a path that is lost during the run', 60, [0, 3600]),
  }),
  alerts: section('Alerts of the device', {
    enabled: flag('Read them'),
    format: choice('Format', ['suricata-eve', 'cef', 'leef', 'syslog-regex']),
    fileID: Type.Optional(
      fileId('File of alerts; it may be an upload that is completed once the test has ended', [
        'other',
        'csv',
        'payload',
      ]),
    ),
    regex: optionalText(
      'Of syslog-regex: pattern (RE2) with groups named time, src, srcPort, dst, dstPort, rule, message and action',
    ),
    windowMs: milliseconds('Time around an attempt', 5000),
    matchOn: subset('What must agree', ['tuple', 'token', 'signature'], ['tuple']),
  }),
});

/** A path to the same server without the device: what it rejects or rewrites is not credited to the device. */
export const calibration = section('Calibration on the bare path', {
  enabled: flag('Send every attempt past the device first, where `ip` names such a path', true),
  ip: optionalText('Address of a path to the same server agent without the device or with its policy off', {
    maxLength: 45,
    pattern: addressPattern,
  }),
  port: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 65_535, description: 'Its port; that of the target when left out' }),
  ),
});

/** Forms of packets that only emulated hosts send. */
export const packetEvasions = [
  'tcp-out-of-order',
  'tcp-overlap',
  'tcp-urgent',
  'tcp-checksum-decoy',
  'ip-fragment-24',
  'ip-ttl-decoy',
] as const;

export const packetForm = choice('Form of the packets of attacks; all but plain are sent by emulated hosts', [
  'plain',
  'tcp-segment-1',
  'tcp-segment-8',
  ...packetEvasions,
]);

export const clientIpRotation = (each: string) =>
  choice('Address to send from: the same, another each time, or another once it is shut out', ['none', each, 'onShun']);

export const seed = whole('Random seed: the same number gives the same sequence', 1, [0, Number.MAX_SAFE_INTEGER]);

export const words = (description: string, maxItems = 1000) =>
  listOf(description, Type.String({ minLength: 1, maxLength: 4096 }), maxItems);
