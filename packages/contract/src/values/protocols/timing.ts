import { choice, flag, optionalMac, profile, section, unsupported, whole } from './field.ts';

const interval = (description: string, value: number) => whole(`${description}, as a power of two`, value, [-7, 10]);

export const gptp = profile('Generalized precision time protocol (IEEE 802.1AS)', {
  clock: section('The emulated clock', {
    role: choice('Follow, lead, or let the best clock win', ['auto', 'follower', 'leader']),
    domain: whole('Domain', 0, [0, 127]),
    priority1: whole('First priority; the lowest wins', 246, [0, 255]),
    priority2: whole('Second priority', 248, [0, 255]),
    clockClass: whole('Class of the clock', 248, [0, 255]),
    accuracy: whole('Accuracy as IEEE 1588 lists it; 254 is unknown', 254, [0, 255]),
    variance: whole('Offset scaled log variance', 17_258, [0, 65_535]),
    identity: optionalMac('Address the clock identity is made from; the interface when left out'),
  }),
  port: section('Messages and their pace', {
    announceLog: interval('Seconds between announces', 0),
    syncLog: interval('Seconds between syncs', -3),
    delayLog: interval('Seconds between delay requests', 0),
    announceTimeout: whole('Announces missed before the leader is lost', 3, [2, 255]),
    syncTimeout: whole('Syncs missed before the leader is lost', 3, [2, 255]),
    twoStep: flag('Send a follow-up after every sync', true),
    delayMechanism: unsupported(choice('How the delay of the link is measured', ['peer', 'end-to-end']), [
      'end-to-end',
    ]),
    delayThresholdNs: whole(
      'Longest delay of a link that can keep time; times taken by software are late by microseconds and more',
      10_000_000,
      [0, 1_000_000_000],
    ),
    timestamps: unsupported(choice('Where times are taken', ['software', 'hardware']), ['hardware']),
  }),
  error: section('Faults of the clock', {
    offsetNs: whole('Constant error', 0, [-1_000_000_000, 1_000_000_000]),
    driftPpb: whole('Error that grows, in parts per billion', 0, [-1_000_000, 1_000_000]),
    lossPct: whole('Share of syncs that are not sent', 0, [0, 100]),
  }),
});
