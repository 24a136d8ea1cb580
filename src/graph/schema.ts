import fs from 'node:fs';
import path from 'node:path';
import { makeExecutableSchema } from '@graphql-tools/schema';
import {
  type GraphQLSchema,
  Kind,
  buildASTSchema,
  buildSchema,
  isObjectType,
  isScalarType,
  isUnionType,
  parse,
  printSchema,
} from 'graphql';
import type { Resolvers } from '../venues/venue';
import { SCALARS } from './scalars';

/** All SDL files below `folder` as one text. */
function readSdl(folder: string): string {
  return fs
    .readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.graphql'))
    .sort()
    .map((file) => fs.readFileSync(path.join(folder, file), 'utf8'))
    .join('\n');
}

/** The executable schema: SDL, scalars and the wings' resolvers. Throws when a resolver names something the SDL has not. */
export function makeSchema(sdlFolder: string, resolvers: readonly Resolvers[]): GraphQLSchema {
  const document = parse(readSdl(sdlFolder));
  // Given a schema that is nobody else's, the tools need not merge texts, nor make all types a second time.
  const schema = makeExecutableSchema({
    typeDefs: buildASTSchema(document),
    updateResolversInPlace: true,
    resolvers: [SCALARS, ...resolvers],
    resolverValidationOptions: { requireResolversToMatchSchema: 'error' },
  });
  // Scalars that are given as resolvers lose the words the SDL has for them.
  for (const node of document.definitions) {
    const scalar = node.kind === Kind.SCALAR_TYPE_DEFINITION ? schema.getType(node.name.value) : undefined;
    if (node.kind === Kind.SCALAR_TYPE_DEFINITION && scalar) scalar.description = node.description?.value;
  }
  return schema;
}

/** Whether a resolver answers the root field. */
export const answers = (schema: GraphQLSchema, rootField: string): boolean =>
  schema.getQueryType()?.getFields()[rootField]?.resolve !== undefined;

/** The same schema again, whose resolvers can be changed without those of the other. */
export function copyOf(schema: GraphQLSchema): GraphQLSchema {
  const copy = buildSchema(printSchema(schema));
  for (const type of Object.values(copy.getTypeMap())) {
    const own = schema.getType(type.name);
    if (isScalarType(type) && isScalarType(own)) {
      const { serialize, parseValue, parseLiteral } = own;
      Object.assign(type, { serialize, parseValue, parseLiteral });
    } else if (isUnionType(type) && isUnionType(own)) type.resolveType = own.resolveType;
    else if (isObjectType(type) && isObjectType(own))
      for (const [name, field] of Object.entries(type.getFields())) field.resolve = own.getFields()[name]?.resolve;
  }
  return copy;
}
