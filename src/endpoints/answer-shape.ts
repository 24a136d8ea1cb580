import { type FieldNode, type GraphQLOutputType, type SelectionNode, Kind, getNullableType, isListType } from 'graphql';

/** What an endpoint's document says about its answer. */
export interface AnswerShape {
  /** Whether it is a list of rows, so that it can be a table. */
  table: boolean;
  /** Dot paths of all its fields; those of native rows in snake case as well. */
  fields: ReadonlySet<string>;
}

/** Native rows answer to either spelling: `PoolAddress` and `pool_address`. */
export const snakeCase = (name: string): string => name.replace(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase();

/** The shape of what the root field `root`, of type `type`, is answered with. */
export function answerShape(root: FieldNode, type: GraphQLOutputType): AnswerShape {
  return { table: isListType(getNullableType(type)), fields: new Set(pathsOf(root.selectionSet?.selections ?? [])) };
}

function pathsOf(selections: readonly SelectionNode[]): string[] {
  return selections.flatMap((node) => {
    if (node.kind === Kind.INLINE_FRAGMENT) return pathsOf(node.selectionSet.selections);
    if (node.kind !== Kind.FIELD) return [];
    const name = node.alias?.value ?? node.name.value;
    const below = pathsOf(node.selectionSet?.selections ?? []);
    return [...new Set([name, snakeCase(name)])].flatMap((spelling) => [spelling, ...below.map((path) => `${spelling}.${path}`)]);
  });
}
