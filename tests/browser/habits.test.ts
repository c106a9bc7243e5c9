import { describe, expect, it } from 'vitest';
import { administrator, openPage, signIn } from './browser.ts';
import { useLab } from './lab.ts';

const firstLoadBytes = 400_000;
const lab = useLab();

const overview = async () => {
  const opened = await lab.signedIn('/');
  await opened.page.getByRole('heading', { name: 'Overview' }).waitFor();
  return opened;
};

describe('the first load', () => {
  it('transfers less than 400 kB with an empty cache', async () => {
    const { page, context } = await openPage(lab.browser);
    const sizes: Promise<number>[] = [];
    page.on('requestfinished', (request) => {
      if (!request.url().includes('/v1/')) sizes.push(request.sizes().then(({ responseBodySize }) => responseBodySize));
    });
    await page.goto(lab.system.url);
    await signIn(page, administrator);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
    console.log(`first load: ${sizes.length} files, ${bytes} bytes`);
    expect(sizes.length).toBeGreaterThan(5);
    expect(bytes).toBeGreaterThan(100_000);
    expect(bytes).toBeLessThan(firstLoadBytes);
    await context.close();
  });
});

describe('the theme', () => {
  it('is chosen on the profile page, also that of the system', async () => {
    const { page, problems, context } = await lab.signedIn('/profile');
    const shown = () => page.evaluate(() => document.documentElement.dataset['mantineColorScheme']);
    const choose = (name: string) => page.getByRole('radiogroup', { name: 'Theme' }).getByText(name).click();
    await page.emulateMedia({ colorScheme: 'light' });
    await choose('Dark');
    await expect.poll(shown).toBe('dark');
    await choose('System');
    await expect.poll(shown).toBe('light');
    await page.emulateMedia({ colorScheme: 'dark' });
    await expect.poll(shown).toBe('dark');
    await page.reload();
    await page.getByRole('heading', { name: 'Profile' }).waitFor();
    await expect.poll(shown).toBe('dark');
    expect(problems).toEqual([]);
    await context.close();
  });
});

describe('the account menu', () => {
  it('leads to the guide and the documentation of the API', async () => {
    const { page, problems, context } = await overview();
    await page.getByRole('button', { name: /^Account of/ }).click();
    const pathOf = (name: string) => page.getByRole('menuitem', { name }).getAttribute('href');
    const [guide, documentation] = [await pathOf('Guide'), await pathOf('API documentation')];
    await page.goto(`${lab.system.url}${guide}`);
    await page.getByRole('heading', { name: 'Rushhour guide', level: 1 }).last().waitFor();
    await page.goto(`${lab.system.url}${documentation}`);
    await page
      .getByRole('heading', { name: /^Rushhour/ })
      .first()
      .waitFor();
    expect(problems).toEqual([]);
    await context.close();
  });
});

describe('the keyboard', () => {
  it('opens the command palette, which finds pages and records', async () => {
    await lab.system.client.networks.create({ body: { name: 'Zanzibar office', subnet: '10.66.0.0/24' } });
    const { page, context } = await overview();
    await page.goto(`${lab.system.url}/settings`);
    await page.getByRole('heading', { name: 'Settings' }).waitFor();
    await page.keyboard.press('Control+k');
    const palette = page.getByRole('dialog', { name: /Go to/ });
    await palette.getByRole('textbox').fill('zanzi');
    await palette.getByText('Zanzibar office').waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Zanzibar office' }).waitFor();
    await page.keyboard.press('Control+k');
    await palette.getByRole('textbox').fill('dicti');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Dictionaries' }).waitFor();
    await context.close();
  });

  it('focuses the search of a page with /, or opens the palette where there is none', async () => {
    const { page, context } = await overview();
    await page.keyboard.press('/');
    await page.getByRole('dialog', { name: /Go to/ }).waitFor();
    await page.keyboard.press('Escape');
    await page.goto(`${lab.system.url}/resources/networks`);
    await page.getByRole('textbox', { name: 'Search' }).waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('office');
    await page.waitForURL('**search=office**');
    expect(await page.getByRole('dialog').count()).toBe(0);
    await context.close();
  });
});
