export const UsagePage = () => <h1>Usage</h1>
