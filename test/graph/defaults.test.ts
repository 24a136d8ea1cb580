import path from 'node:path';
import { Kind, type FieldNode, valueFromASTUntyped } from 'graphql';
import { loadEndpoints } from '../../src/endpoints/load';
import { makeSchema } from '../../src/graph/schema';

const ROOT = path.resolve(__dirname, '../..');
const schema = makeSchema(path.join(ROOT, 'graphql/schema'), []);
const fields = schema.getQueryType()?.getFields() ?? {};

test('what may be left out of a free question means what it means in the one that is sold', () => {
  let compared = 0;
  for (const { name, document, parameters } of loadEndpoints(path.join(ROOT, 'graphql/endpoints'), schema)) {
    const [operation] = document.definitions;
    if (operation?.kind !== Kind.OPERATION_DEFINITION) throw new Error(`${name} is no operation`);
    const field = fields[(operation.selectionSet.selections[0] as FieldNode).name.value];
    for (const arg of field?.args ?? []) {
      const value = arg.astNode?.defaultValue;
      const sold = parameters.find((parameter) => parameter.name === arg.name)?.default;
      // Where nothing is the default, nothing need be said.
      if (value === undefined && (sold === undefined || arg.astNode?.type.kind !== Kind.NON_NULL_TYPE)) continue;
      expect([name, arg.name, value && valueFromASTUntyped(value)]).toEqual([name, arg.name, sold]);
      compared += 1;
    }
  }
  expect(compared).toBeGreaterThan(200);
});
