// What is written in one place only, and says where.

const inEnvironment = ({ object, property, computed }) =>
  object.type === 'Identifier' && object.name === 'process' && (computed ? property.value : property.name) === 'env';

const oneDoor = {
  create(context) {
    const report = (node, message) => context.report({ node, message });
    return {
      ExportDefaultDeclaration: (node) => report(node, 'Export by name: one name from file to use.'),
      ExportAllDeclaration: (node) => report(node, 'No barrels: import from the file that holds it.'),
      MemberExpression: (node) => {
        if (inEnvironment(node)) report(node, 'src/config.ts is the only reader of the environment.');
      },
      CallExpression: ({ callee, arguments: [signals] }) => {
        const isCallOf = (called, name) =>
          called.type === 'MemberExpression' && called.object.name === 'AbortSignal' && called.property.name === name;
        if (!isCallOf(callee, 'any') || signals?.type !== 'ArrayExpression') return;
        for (const signal of signals.elements)
          if (signal?.type === 'CallExpression' && isCallOf(signal.callee, 'timeout'))
            report(signal, 'Node 20 loses such a timeout to the garbage collector: withDeadline of src/lib/deadline.ts.');
      },
    };
  },
};

export default { meta: { name: 'doors' }, rules: { 'one-door': oneDoor } };
