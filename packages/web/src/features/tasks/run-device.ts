type Labels = Readonly<Record<string, string>>;

/** Vendor, model and version of the device under test, as far as a run has them. */
export const deviceDetailsOf = (labels: Labels): string =>
  ['deviceVendor', 'deviceModel', 'deviceVersion'].flatMap((name) => labels[name] ?? []).join(' ');

/** The device under test of a run in one line; empty when it has none. */
export const deviceNameOf = (labels: Labels): string =>
  [labels['device'] ?? '', deviceDetailsOf(labels)].filter(Boolean).join(' · ');
