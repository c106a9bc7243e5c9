import { invalid } from '../../../errors.ts';
import { applications } from '../../../store/assets/applications.ts';
import { files } from '../../../store/assets/files.ts';
import { at } from '../at-place.ts';
import type { Prepare } from './arrival.ts';

export const prepareApplication: Prepare<'applications'> = async ({ application }, { rules, findFile, signal }) => {
  const checked = await at('/application', async () => {
    const capture = await findFile(application.pcapFileId);
    if (capture === undefined) {
      throw invalid(
        [{ path: '/pcapFileId', code: 'PCAP_MISSING', message: 'its capture is not here' }],
        'PCAP_MISSING',
      );
    }
    return rules.application(application, capture, signal);
  });
  return async (tx, name, parts) => {
    const { pcapFileId, parameters = [] } = parts.application;
    const pcapMd5 = (await files.find(tx, pcapFileId))?.md5 ?? '';
    const columns = { ...checked.columns, name, pcapFileId, trimmedPcapFileId: null, pcapMd5 };
    const id = await applications.insert(tx, columns);
    await rules.completeApplication(tx, id, {
      sessions: checked.sessions,
      parameters: checked.parameters.map((parameter, index) => ({
        ...parameter,
        defaultValue: parameters[index]?.defaultValue ?? '',
      })),
    });
    return id;
  };
};
