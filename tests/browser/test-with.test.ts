import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { fillWithDemoData } from '../../scripts/demo-data.ts';
import { useLab } from './lab.ts';

const lab = useLab();

/** Follows "Test with this" of the page that is shown, and saves the test that it leads to. */
const savedTest = async (page: Page, field: string, name: string) => {
  await page.getByRole('link', { name: 'Test with this' }).click();
  await page.getByRole('button', { name: 'Next' }).click();
  await expect.poll(() => page.getByRole('combobox', { name: field }).inputValue()).toBe(name);
  await page.getByRole('button', { name: 'Save without starting' }).click();
  await page.waitForURL('**/tasks/*');
  const id = Number(/\d+$/.exec(new URL(page.url()).pathname)?.[0]);
  return (await lab.system.client.tasks.get({ params: { id } })).data.configuration[0]?.values;
};

describe('"Test with this"', () => {
  it('leads from a record of every kind to a test of it', async () => {
    const { client } = lab.system;
    const demo = await fillWithDemoData(client);
    const probe = {
      name: 'Probe of the lab',
      requests: [{ idx: 0, kind: 'http', method: 'GET', path: '/probe' }],
      ...{ safety: 'benign', enabled: true },
    };
    const { data: signature } = await client.cve.create({ body: probe as never });
    const { data: samples } = await client.malware.list({ query: { count: 10 } });
    const [sample] = samples;
    const { data: campaigns } = await client.compromisedHost.list({ query: { count: 10 } });
    const campaign = campaigns[0]?.name ?? '';
    const network = demo.networks[0] ?? 0;
    const records: [path: string, field: string, name: string, values: object][] = [
      [`/resources/cve/${signature}`, 'Signature', probe.name, { cveReplayParams: { signatureIds: [signature] } }],
      [`/resources/malware/${sample?.id}`, 'Sample', sample?.name ?? '', { malwareFiles: [sample?.id] }],
      [`/resources/files/${demo.capture}`, 'Capture', 'shop-cart.pcap', { pcapReplayParams: { fileId: demo.capture } }],
      [
        `/resources/applications/${demo.application}`,
        ...(['Application', 'Shop: open the cart'] as const),
        { applicationParams: { applications: [{ applicationId: demo.application }] } },
      ],
      [`/resources/networks/${network}`, 'Client network', 'Clients', { sources: [{ network: { id: network } }] }],
      [
        `/resources/certificates/${demo.certificates.expired}`,
        ...(['Certificate', 'Expired on purpose'] as const),
        { tlsParams: { certificateID: demo.certificates.expired } },
      ],
    ];
    const { page, problems, context } = await lab.signedIn('/');
    for (const [path, field, name, values] of records) {
      await page.goto(`${lab.system.url}${path}`);
      expect(await savedTest(page, field, name), path).toMatchObject(values);
    }
    await page.goto(`${lab.system.url}/campaigns`);
    await page.getByRole('button', { name: campaign, exact: true }).click();
    expect(await savedTest(page, 'Campaign', campaign)).toMatchObject({
      compromisedHostParams: { campaignIds: [campaigns[0]?.id] },
    });
    expect(problems).toEqual([]);
    await context.close();
  });
});
