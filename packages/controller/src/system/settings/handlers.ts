import { BlockList, isIP } from 'node:net';
import type { api, Settings } from '@rushhour/contract';
import type { Bus } from '../../bus/local.ts';
import { type Issue, invalid } from '../../errors.ts';
import type { Handlers } from '../../handler.ts';
import type { Change } from '../../store/engine/change.ts';
import type { Store } from '../../store/store.ts';
import { addDelivery } from '../../store/system/deliveries.ts';
import { notify } from '../../store/system/notifications.ts';
import type { SettingsStore } from '../../store/system/settings.ts';

interface Deps {
  store: Store;
  settings: SettingsStore;
  bus: Bus;
}

export const settingHandlers = ({ store, settings, bus }: Deps): Handlers<typeof api.settings> => ({
  get: () => ({ data: settings.masked() }),
  update: ({ body: { sendTest, ...patch } }, caller) =>
    store.change(caller, async (tx) => {
      const { merged, changed } = await settings.update(tx, patch);
      const issues = [...issuesOf(merged), ...testIssues(merged, sendTest)];
      if (issues.length > 0) throw invalid(issues);
      if (sendTest !== undefined) await sendTestTo(tx, bus, sendTest);
      if (changed.length === 0) return;
      const message = `Settings changed: ${changed.join(', ')}`;
      await notify(tx, bus, {
        severity: 'info',
        kind: 'settings.changed',
        message,
        audience: { permission: 'settings.read' },
      });
    }),
});

type Test = NonNullable<Parameters<Handlers<typeof api.settings>['update']>[0]['body']['sendTest']>;

const testIssues = ({ webhooks, mail }: Settings, test: Test | undefined): Issue[] => {
  if (test === undefined) return [];
  const issue = (path: string, message: string): Issue => ({ path: `/sendTest${path}`, code: 'INVALID', message });
  return [
    ...(test.webhook === undefined && test.mail === undefined
      ? [issue('', 'must name a webhook or a mail address')]
      : []),
    ...(test.webhook !== undefined && !webhooks.some(({ url }) => url === test.webhook)
      ? [issue('/webhook', 'is no webhook of the settings')]
      : []),
    ...(test.mail !== undefined && mail.host === '' ? [issue('/mail', 'needs a mail server in the settings')] : []),
  ];
};

const sendTestTo = async (tx: Change, bus: Bus, { webhook, mail }: Test): Promise<void> => {
  const message = `Test: notifications reach ${[webhook, mail].filter((target) => target !== undefined).join(' and ')}`;
  const audience = { userID: tx.userId ?? 0 };
  const notificationID = await notify(tx, bus, { severity: 'info', kind: 'delivery.test', message, audience });
  if (webhook !== undefined) await addDelivery(tx, { notificationID, channel: 'webhook', target: webhook }, tx.now);
  if (mail !== undefined) await addDelivery(tx, { notificationID, channel: 'mail', target: mail }, tx.now);
};

/** Problems between members: values that contradict each other. */
const issuesOf = ({ auth, agents, tasks, metrics }: Settings): Issue[] => {
  const issues: Issue[] = [];
  const expect = (isFine: boolean, path: string, message: string) => {
    if (!isFine) issues.push({ path, code: 'INCONSISTENT', message });
  };
  expect(auth.refreshTtlSec >= auth.accessTtlSec, '/auth/refreshTtlSec', 'must not be shorter than accessTtlSec');
  expect(auth.absoluteTtlSec >= auth.refreshTtlSec, '/auth/absoluteTtlSec', 'must not be shorter than refreshTtlSec');
  expect(agents.suspectAfterSec > agents.heartbeatSec, '/agents/suspectAfterSec', 'must be longer than heartbeatSec');
  expect(agents.lostAfterSec > agents.suspectAfterSec, '/agents/lostAfterSec', 'must be longer than suspectAfterSec');
  for (const [i, range] of tasks.allowedTargets.entries()) {
    expect(isRange(range), `/tasks/allowedTargets/${i}`, 'must be an address or a range such as 10.0.0.0/8');
  }
  for (const [i, { type, target }] of metrics.outputs.entries()) {
    const path = `/metrics/outputs/${i}/target`;
    if (type === 'jsonLines') expect(/^[A-Za-z0-9][\w.-]{0,127}$/.test(target), path, 'must be the name of a file');
    else expect(/^https?:$/.test(URL.parse(target)?.protocol ?? ''), path, 'must be an address that begins with http');
  }
  return issues;
};

const isRange = (text: string) => {
  const [address = '', prefix, ...rest] = text.split('/');
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return false;
  if (prefix === undefined) return true;
  try {
    new BlockList().addSubnet(
      address,
      /^\d+$/.test(prefix) ? Number(prefix) : Number.NaN,
      version === 4 ? 'ipv4' : 'ipv6',
    );
    return true;
  } catch {
    return false;
  }
};
