import { Button } from '@mantine/core';
import { IconServer2, IconWorld } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { DownloadLink } from '../../components/buttons.tsx';
import { BulkButton } from '../../components/resource/bulk-button.tsx';
import { type Item, idOf } from '../../components/resource/resource.ts';
import { TestWithButton } from '../../components/test-with-button.tsx';
import { client } from '../../lib/client.ts';
import { useMay } from '../../lib/session.ts';
import { text } from '../../lib/text.ts';

const { files: words } = text;
export const isCapture = ({ category }: Item) => category === 'pcap' || category === 'capture';

/** The template that plays a file. */
const templateOf = (item: Item) =>
  isCapture(item) ? 'Capture replay' : item['category'] === 'har' ? 'Website visits from a HAR recording' : undefined;

/** Create an application from a capture, download a file, push files to the agents. */
export const FileActions = ({ items, done }: { items: readonly Item[]; done: () => void }) => {
  const may = useMay();
  const [only] = items.length === 1 ? items : [];
  return (
    <>
      {only && isCapture(only) && may('applications', 'create') && (
        <Button
          leftSection={<IconWorld size={16} />}
          renderRoot={(props) => (
            <Link
              {...props}
              to="/resources/$name"
              params={{ name: 'applications' }}
              search={{ edit: 'new', capture: idOf(only) }}
            />
          )}
        >
          {words.createApplication}
        </Button>
      )}
      {only && only['syncReady'] === true && templateOf(only) !== undefined && (
        <TestWithButton template={templateOf(only) ?? ''} id={idOf(only)} />
      )}
      {only && may('files', 'download') && only['syncReady'] === true && (
        <DownloadLink href={`/v1/files/${idOf(only)}/download`} label={words.download} />
      )}
      {may('files', 'sync') && items.every((item) => item['syncReady'] === true) && (
        <BulkButton
          label={words.push}
          icon={IconServer2}
          items={items}
          run={(array) => client.files.sync({ body: { array, agents: 'all' } })}
          onDone={done}
        />
      )}
    </>
  );
};
