/** Names of the metrics of a client. */
export const streamMetrics = {
  sent: 'stream.sent',
  txBytes: 'stream.txBytes',
  queueFull: 'stream.queueFull',
  linkDown: 'stream.errors.linkDown',
  dropped: 'stream.dropped',
  streams: 'stream.streams',
  targetLoad: 'stream.targetLoad',
};
export type StreamClientMetrics = typeof streamMetrics;
