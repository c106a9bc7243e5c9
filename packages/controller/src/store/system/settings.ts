import { defaultSettings, type Settings, type SettingsPatch, secretMask } from '@rushhour/contract';
import type { Bus } from '../../bus/local.ts';
import type { Change } from '../engine/change.ts';
import type { Executor } from '../engine/database.ts';
import type { Secrets } from '../engine/secrets.ts';
import { statement } from '../engine/statement.ts';

type Json = Record<string, unknown>;

const find = statement((db, _: object) => db.selectFrom('settings').select('value').where('id', '=', 1));
const put = statement((db, p: { value: string; updatedAt: string }) =>
  db
    .insertInto('settings')
    .values({ id: 1, value: p.value, updatedAt: p.updatedAt })
    .onConflict((c) => c.column('id').doUpdateSet({ value: p.value, updatedAt: p.updatedAt })),
);

export interface SettingsStore {
  /** What is in force now. Secrets are sealed; `openSecret` reads one. */
  current(): Settings;
  masked(): Settings;
  openSecret(sealed: string): string;
  /** Merges a change and answers the pointers that changed. In force once the change is on disk. */
  update(tx: Change, patch: SettingsPatch): Promise<{ merged: Settings; changed: string[] }>;
}

const location = { table: 'settings', id: 1, column: 'value' };

/** The settings as a transaction sees them. */
export const readSettings = async (executor: Executor): Promise<Settings> => {
  const row = await find.first(executor, {});
  return merge(defaultSettings, row ? (JSON.parse(row.value) as Json) : {}) as Settings;
};

/** Keeps the settings in memory and reads them anew whenever they change. */
export const loadSettings = async (read: Executor, secrets: Secrets, bus: Bus): Promise<SettingsStore> => {
  let current = await readSettings(read);
  bus.subscribe(
    'settings.changed',
    () =>
      void readSettings(read).then((loaded) => {
        current = loaded;
      }),
  );

  return {
    current: () => current,
    masked: () => mapSecrets(current, (value) => (value === '' ? '' : secretMask)),
    openSecret: (sealed) => secrets.open(sealed, location),
    update: async (tx, patch) => {
      const before = await readSettings(tx);
      const sealed = sealPatch(patch, before, (plain) => secrets.seal(plain, location));
      const merged = merge(before, sealed as Json) as Settings;
      const changed = differences(before, merged, '');
      await put.all(tx, { value: JSON.stringify(merged), updatedAt: tx.now });
      tx.note({ changed });
      tx.afterCommit(() => {
        current = merged;
        bus.publish('settings.changed', undefined);
      });
      return { merged, changed };
    },
  };
};

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const merge = (base: unknown, patch: unknown): unknown => {
  if (!isObject(base) || !isObject(patch)) return patch === undefined ? base : patch;
  const names = new Set([...Object.keys(base), ...Object.keys(patch)]);
  return Object.fromEntries([...names].map((name) => [name, merge(base[name], patch[name])]));
};

const mapSecrets = (settings: Settings, map: (value: string) => string): Settings => ({
  ...settings,
  mail: { ...settings.mail, password: map(settings.mail.password) },
  metrics: {
    ...settings.metrics,
    outputs: settings.metrics.outputs.map((output) => ({
      ...output,
      ...(output.authorization !== undefined && { authorization: map(output.authorization) }),
    })),
  },
  webhooks: settings.webhooks.map((hook) => ({
    ...hook,
    ...(hook.secret !== undefined && { secret: map(hook.secret) }),
  })),
});

/** New secrets are sealed; the mask stands for the secret that is stored already (of a webhook or output: the one with the same address). */
const sealPatch = (patch: SettingsPatch, before: Settings, seal: (plain: string) => string): SettingsPatch => {
  const kept = (given: string, stored: string | undefined) => {
    if (given === secretMask) return stored ?? '';
    return given === '' ? '' : seal(given);
  };
  const { mail, webhooks, metrics } = patch;
  return {
    ...patch,
    ...(mail?.password !== undefined && { mail: { ...mail, password: kept(mail.password, before.mail.password) } }),
    ...(metrics?.outputs && {
      metrics: {
        ...metrics,
        outputs: metrics.outputs.map((output) => {
          const stored = before.metrics.outputs.find(({ target }) => target === output.target)?.authorization;
          return output.authorization === undefined
            ? output
            : { ...output, authorization: kept(output.authorization, stored) };
        }),
      },
    }),
    ...(webhooks && {
      webhooks: webhooks.map((hook) => {
        const stored = before.webhooks.find(({ url }) => url === hook.url)?.secret;
        return hook.secret === undefined ? hook : { ...hook, secret: kept(hook.secret, stored) };
      }),
    }),
  };
};

const differences = (before: unknown, after: unknown, pointer: string): string[] => {
  if (isObject(before) && isObject(after)) {
    return Object.keys(after).flatMap((name) => differences(before[name], after[name], `${pointer}/${name}`));
  }
  return JSON.stringify(before) === JSON.stringify(after) ? [] : [pointer];
};
