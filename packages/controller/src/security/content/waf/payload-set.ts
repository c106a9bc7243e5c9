import type { Attempt } from '@rushhour/protocol';

/** Short, classic, public test strings of one kind of attack. Names and addresses in them are reserved for tests. */
export interface PayloadSet {
  readonly severity: Attempt['severity'];
  readonly techniques: readonly string[];
  readonly payloads: readonly string[];
}
