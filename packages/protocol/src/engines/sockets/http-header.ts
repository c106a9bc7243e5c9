import { Type } from 'typebox';

export const Header = Type.Object(
  { name: Type.String({ pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$" }), value: Type.String({ pattern: '^[^\\r\\n]*$' }) },
  { additionalProperties: false },
);
