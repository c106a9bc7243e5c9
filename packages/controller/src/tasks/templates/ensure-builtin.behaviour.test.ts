import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { statement } from '../../store/engine/statement.ts';
import { type SignedIn, startTestController, type TestController } from '../../testing/controller.ts';
import { allBuiltin } from './builtin/all-builtin.ts';
import type { BuiltinTemplate } from './builtin/builtin-template.ts';
import { ensureBuiltinTemplates } from './ensure-builtin.ts';

let controller: TestController;
let templates: SignedIn['client']['taskTemplates'];
beforeAll(async () => {
  controller = await startTestController();
  templates = (await controller.signIn()).client.taskTemplates;
});
afterAll(() => controller.close());

const entries = statement((db, _: object) => db.selectFrom('auditHead').select('entries'));
const audited = async () => (await entries.first(controller.store.read, {}))?.entries;
const builtIn = async () =>
  (await templates.list({ query: { count: 100, order: 'asc' } })).data.filter((one) => one.builtIn);
const [first, ...others] = allBuiltin as [BuiltinTemplate, ...BuiltinTemplate[]];

describe('built-in templates', () => {
  it('are made once and then left alone', async () => {
    const before = await builtIn();
    expect(before).toMatchObject(allBuiltin.map((template) => ({ ...template, issuerID: null })));
    const start = await audited();
    await ensureBuiltinTemplates(controller.store);
    expect(await audited()).toBe(start);
  });

  it('are renewed in their place when a release changes them', async () => {
    const before = await builtIn();
    await ensureBuiltinTemplates(controller.store, [{ ...first, description: 'Better told' }, ...others]);
    const after = await builtIn();
    expect(after[0]).toMatchObject({ id: before[0]?.id, description: 'Better told' });
    expect(after.slice(1)).toEqual(before.slice(1));
  });

  it('go when a release has them no more, and come back with it', async () => {
    await ensureBuiltinTemplates(controller.store, others);
    expect((await builtIn()).map(({ name }) => name)).toEqual(others.map(({ name }) => name));
    await ensureBuiltinTemplates(controller.store);
    expect(await builtIn()).toHaveLength(allBuiltin.length);
  });

  it('give way to a name that a user took before', async () => {
    await ensureBuiltinTemplates(controller.store, others);
    const { description, tags, task, slots, parameters } = first;
    await templates.create({ body: { name: first.name, description, tags, task, slots, parameters } });
    await ensureBuiltinTemplates(controller.store);
    expect((await builtIn()).map(({ name }) => name)).toContain(`${first.name} (built-in)`);
    const start = await audited();
    await ensureBuiltinTemplates(controller.store);
    expect(await audited()).toBe(start);
  });
});
