/** What a router says about itself and the designated routers, which it calls by their names. */
export interface Candidate {
  readonly routerId: number;
  readonly name: number;
  readonly priority: number;
  readonly designated: number;
  readonly backup: number;
}

const best = (candidates: readonly Candidate[]): Candidate | undefined =>
  candidates.reduce<Candidate | undefined>((winner, one) => {
    if (winner === undefined) return one;
    const order = one.priority - winner.priority || one.routerId - winner.routerId;
    return order > 0 ? one : winner;
  }, undefined);

const round = (candidates: readonly Candidate[]): { designated: number; backup: number } => {
  const eligible = candidates.filter(({ priority }) => priority > 0);
  const others = eligible.filter(({ designated, name }) => designated !== name);
  const backup = best(others.filter((one) => one.backup === one.name)) ?? best(others);
  const designated = best(eligible.filter((one) => one.designated === one.name)) ?? backup;
  const backupName = backup?.name ?? 0;
  const designatedName = designated?.name ?? 0;
  return { designated: designatedName, backup: backupName === designatedName ? 0 : backupName };
};

/** Designated and backup router of a network (RFC 2328, section 9.4). */
export const electDesignated = (
  own: Candidate,
  others: readonly Candidate[],
): { readonly designated: number; readonly backup: number } => {
  const first = round([own, ...others]);
  const wasRole = (result: { designated: number; backup: number }) =>
    result.designated === own.name ? 2 : result.backup === own.name ? 1 : 0;
  const before = wasRole(own);
  if (wasRole(first) === before) return first;
  // The own role has changed: the election is repeated with the new claim.
  return round([{ ...own, ...first }, ...others]);
};
