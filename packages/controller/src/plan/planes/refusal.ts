/** Pointer into the profile and why its value cannot be done. */
export type Refusal = readonly [pointer: string, message: string];

/** The entry of `controlPlane` that a profile belongs to. */
export interface EntryOfRouters {
  /** All profiles of the entry, by protocol. */
  readonly profiles: Readonly<Record<string, readonly unknown[]>>;
  readonly routers: number;
}

/** The refusals of what is asked for. */
export const asked = (cases: readonly (readonly [boolean, ...Refusal])[]): Refusal[] =>
  cases.flatMap(([isAsked, pointer, message]) => (isAsked ? [[pointer, message] as const] : []));
