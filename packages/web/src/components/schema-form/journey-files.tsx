import { Button, FileButton, Group, Modal, MultiSelect, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { journeyFromOpenApi, type OpenApiDocument, operationsOf } from '../../lib/journeys/openapi-journey.ts';
import { findJourneyFile, journeyFileText } from '../../lib/journeys/read-journeys.ts';
import { text } from '../../lib/text.ts';
import type { Value } from './field.ts';

const { journeyFiles: words } = text.editor;

interface JourneyFilesProps {
  journeys: readonly Value[];
  onAdd: (journeys: readonly object[]) => void;
}

/** Adds journeys from a file, and saves all of them as one. */
export const JourneyFiles = ({ journeys, onAdd }: JourneyFilesProps) => {
  const [document, setDocument] = useState<OpenApiDocument>();
  const [isUnknown, setUnknown] = useState(false);
  const read = async (file: File | null) => {
    if (file === null) return;
    const found = findJourneyFile(await file.text());
    setUnknown(found === undefined);
    if (found !== undefined && 'document' in found) setDocument(found.document);
    else if (found !== undefined) onAdd(found.journeys);
  };
  return (
    <Group gap="xs">
      <FileButton onChange={(file) => void read(file)} accept=".json,.har">
        {(props) => (
          <Button size="compact-xs" variant="default" title={words.importHelp} {...props}>
            {words.import}
          </Button>
        )}
      </FileButton>
      {journeys.length > 0 && (
        <Button
          size="compact-xs"
          variant="default"
          component="a"
          download="journeys.json"
          href={`data:application/json;charset=utf-8,${encodeURIComponent(journeyFileText(journeys))}`}
        >
          {words.export}
        </Button>
      )}
      {isUnknown && (
        <Text size="xs" c="red" role="alert">
          {words.unknown}
        </Text>
      )}
      {document && (
        <OperationsDialog
          document={document}
          onClose={() => setDocument(undefined)}
          onChoose={(chosen) => {
            onAdd([journeyFromOpenApi(document, chosen)]);
            setDocument(undefined);
          }}
        />
      )}
    </Group>
  );
};

interface OperationsDialogProps {
  document: OpenApiDocument;
  onClose: () => void;
  onChoose: (operations: string[]) => void;
}

const OperationsDialog = ({ document, onClose, onChoose }: OperationsDialogProps) => {
  const [chosen, setChosen] = useState<string[]>([]);
  return (
    <Modal opened onClose={onClose} title={words.operations} size="lg">
      <Stack>
        <MultiSelect
          label={words.operations}
          data={operationsOf(document).map(({ key }) => key)}
          value={chosen}
          onChange={setChosen}
          searchable
        />
        <Group justify="flex-end">
          <Button disabled={chosen.length === 0} onClick={() => onChoose(chosen)}>
            {words.add}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
};
