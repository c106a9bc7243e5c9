/** A metric was asked for that neither the run nor its plugins know. */
export class UnknownMetric extends Error {
  override readonly name = 'UnknownMetric';
  readonly metrics: readonly string[];
  readonly known: readonly string[];

  constructor(metrics: readonly string[], known: readonly string[]) {
    super(`no such metric: ${metrics.join(', ')}`);
    this.metrics = metrics;
    this.known = known;
  }
}
