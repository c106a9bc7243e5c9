import { type SignedIn, startTestController } from '../../../testing/controller.ts';
import { shopCapture, shopSteps } from './shop-capture.ts';

/** A controller with the shop's capture stored, and a client that may do everything. */
export const startShop = async () => {
  const controller = await startTestController();
  const { client } = await controller.signIn();
  const upload = async (filename: string, bytes: Buffer<ArrayBuffer>, category: 'pcap' | 'other' = 'pcap') => {
    const file = new Blob([bytes]);
    return (await client.files.create({ upload: { fields: { category }, file, filename } })).data;
  };
  const pcapFileId = await upload('shop.pcap', shopCapture());
  const { applications } = client;
  type NewBody = Parameters<typeof applications.create>[0]['body'];
  const create = async (name: string, body: Partial<NewBody> = {}) =>
    (await applications.create({ body: { name, pcapFileId, ...body } })).data;
  const get = async (id: number) => (await applications.get({ params: { id } })).data;
  return { controller, client, applications, pcapFileId, upload, create, get };
};
export type Shop = Awaited<ReturnType<typeof startShop>>;

type NewBody = Parameters<SignedIn['client']['applications']['create']>[0]['body'];
type Mapping = NonNullable<NonNullable<NewBody['parameters']>[number]['stepsMappings']>[number];

/** Where a text first stands in a step of the shop's session. */
export const mappingOf = (stepIdx: number, text: string, sessionIdx = 0): Mapping => {
  const side = stepIdx % 2 === 0 ? 'client' : 'server';
  return { sessionIdx, stepIdx, side, offset: shopSteps[stepIdx]?.indexOf(text) ?? 0, length: text.length };
};

export const userParameter = (...stepsMappings: Mapping[]) => ({
  name: 'user',
  defaultValue: 'bartholomew',
  stepsMappings,
});
