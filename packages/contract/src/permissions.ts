/** Permission names and their integers: collection × 10 + verb. Append only; a value is never reused. */
export const permissions = {
  'system.admin': 1,
  'users.read': 11,
  'users.write': 12,
  'users.block': 13,
  'users.password': 14,
  'groups.read': 21,
  'groups.write': 22,
  'agents.read': 31,
  'agents.write': 32,
  'agents.execute': 33,
  'agents.enrol': 34,
  'agents.reserveForce': 35,
  'agents.upgrade': 36,
  'tasks.read': 41,
  'tasks.write': 42,
  'tasks.execute': 43,
  'tasks.executeHazardous': 44,
  'tasks.dumps': 45,
  'tasks.export': 46,
  'tasks.import': 47,
  'tasks.deleteResults': 48,
  'tasks.exportSecrets': 49,
  'taskTemplates.read': 51,
  'taskTemplates.write': 52,
  'networks.read': 61,
  'networks.write': 62,
  'certificates.read': 71,
  'certificates.write': 72,
  'certificates.private': 74,
  'macs.read': 81,
  'macs.write': 82,
  'files.read': 91,
  'files.write': 92,
  'files.download': 94,
  'tunnels.read': 101,
  'tunnels.write': 102,
  'applications.read': 111,
  'applications.write': 112,
  'malware.read': 121,
  'malware.write': 122,
  'malware.execute': 123,
  'malware.download': 124,
  'malware.release': 125,
  'cve.read': 131,
  'cve.write': 132,
  'cve.execute': 133,
  'cve.runIntrusive': 134,
  'cve.review': 135,
  'settings.read': 151,
  'settings.write': 152,
  'aiAdmin.read': 161,
  'aiAdmin.write': 162,
  'aiAdmin.decide': 163,
  'compromisedHost.read': 181,
  'compromisedHost.execute': 183,
  'dictionaries.read': 191,
  'dictionaries.write': 192,
  'projects.read': 201,
  'projects.write': 202,
} as const;

export type Permission = keyof typeof permissions;

const reads = Object.entries(permissions)
  .filter(([name]) => name.endsWith('.read'))
  .map(([, value]) => value);

const operators = [...reads, 32, 33, 42, 43, 45, 46, 47, 52, 62, 82, 92, 94, 102, 112, 192, 202];

/** The groups a new installation starts with. */
export const initialGroups: readonly { name: string; permissions: readonly number[] }[] = [
  { name: 'Administrators', permissions: [permissions['system.admin']] },
  { name: 'Operators', permissions: operators },
  { name: 'Security testers', permissions: [...operators, 44, 122, 123, 132, 133, 183] },
  { name: 'Viewers', permissions: reads },
];
