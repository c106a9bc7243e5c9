import { Text } from '@mantine/core';

/** Warnings below a name in a table. */
export const Remarks = ({ remarks }: { remarks: readonly string[] }) =>
  remarks.map((remark) => (
    <Text key={remark} size="xs" c="orange">
      {remark}
    </Text>
  ));
