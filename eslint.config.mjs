import tseslint from 'typescript-eslint';

export default tseslint.config(
  { ignores: ['node_modules', 'dist', 'coverage', 'src/generated', '.data', '.sandbox'] },
  ...tseslint.configs.recommended,
  {
    files: ['**/*.ts'],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: false }],
      '@typescript-eslint/await-thenable': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      'no-restricted-syntax': [
        'error',
        { selector: 'ExportDefaultDeclaration', message: 'Export by name: one name from file to use.' },
        { selector: 'ExportAllDeclaration', message: 'No barrels: import from the file that holds it.' },
        {
          selector:
            "CallExpression[callee.object.name='AbortSignal'][callee.property.name='any'] CallExpression[callee.property.name='timeout']",
          message: 'Node 20 loses such a timeout to the garbage collector: withDeadline of src/lib/deadline.ts.',
        },
        {
          selector: "MemberExpression[object.name='process'][property.name='env']",
          message: 'src/config.ts is the only reader of the environment.',
        },
      ],
    },
  },
  {
    // Entry points and what runs outside the program may read the environment; tools want default exports.
    files: ['src/main.ts', 'src/cli/**', 'src/db/embedded.ts', 'src/sandbox/**', 'test/**', '*.config.ts'],
    rules: { 'no-restricted-syntax': 'off' },
  },
  { files: ['scripts/**', '*.js', 'test/**/*.js'], rules: { '@typescript-eslint/no-require-imports': 'off' } },
);
