import { describe, expect, it } from 'vitest';
import { visit } from './browser.ts';
import { useLab } from './lab.ts';

const lab = useLab();
const desk = { width: 1440, height: 900 };

describe('the look of the interface', () => {
  it('has one font, shipped with it', async () => {
    const { page, problems, context } = await lab.signedIn('/');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    for (const path of ['/', '/resources/tasks', '/new', '/resources/networks?edit=new']) {
      await visit(page, path);
      // Only code is set in another font.
      const fonts = await page.evaluate(() => [
        ...new Set(
          [...document.querySelectorAll('body *:not(code, pre, code *, pre *, textarea)')]
            .filter((element) => element.checkVisibility())
            .map((element) => getComputedStyle(element).fontFamily.split(',')[0]),
        ),
      ]);
      expect(fonts, path).toEqual(['"Figtree Variable"']);
    }
    expect(await page.evaluate(() => document.fonts.check('13px "Figtree Variable"'))).toBe(true);
    expect(problems).toEqual([]);
    await context.close();
  });

  it('has tables of 13 px with rows of 32 px', async () => {
    const { client } = lab.system;
    for (const [n, name] of ['one', 'two'].entries()) {
      await client.networks.create({ body: { name: `look-${name}`, subnet: `10.${n}.0.0/24` } as never });
      await client.macs.create({
        body: { name: `look-${name}`, kind: 'address', address: `02:00:00:00:00:0${n}` } as never,
      });
    }
    const { page, problems, context } = await lab.signedIn('/resources/networks');
    await page.setViewportSize(desk);
    for (const name of ['networks', 'macs', 'agents', 'certificates', 'groups', 'users', 'files', 'malware']) {
      await visit(page, `/resources/${name}`);
      const rows = page.locator('main tbody tr');
      if (['certificates', 'files'].includes(name) && (await rows.count()) === 0) continue;
      await rows.first().waitFor();
      const measured = await rows.evaluateAll((all) =>
        all.map((row) => ({
          height: Math.round(row.getBoundingClientRect().height),
          size: getComputedStyle(row.querySelector('td') ?? row).fontSize,
        })),
      );
      expect(new Set(measured.map(({ size }) => size)), name).toEqual(new Set(['13px']));
      // The line between two rows belongs to one of them.
      expect(Math.min(...measured.map(({ height }) => height)), name).toBeGreaterThanOrEqual(31);
      expect(Math.max(...measured.map(({ height }) => height)), name).toBeLessThanOrEqual(33);
    }
    expect(problems).toEqual([]);
    await context.close();
  });

  it('has a menu that fits a window of 900 px and folds', async () => {
    const { page, problems, context } = await lab.signedIn('/');
    await page.setViewportSize(desk);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    const menu = page.getByRole('navigation').first();
    const links = menu.getByRole('link');
    const all = await links.count();
    expect(all).toBeGreaterThan(15);
    const box = await links.last().boundingBox();
    expect((box?.y ?? 9999) + (box?.height ?? 0)).toBeLessThanOrEqual(desk.height);
    await menu.getByRole('button', { name: 'Resources' }).click();
    await expect.poll(() => links.filter({ visible: true }).count()).toBeLessThan(all);
    expect(problems).toEqual([]);
    await context.close();
  });
});
