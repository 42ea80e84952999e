export const OperatorPage = () => <h1>Operator</h1>
